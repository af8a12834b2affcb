"""Writes test/tables/fnmatch.json: pattern, value, and what Python's fnmatch.fnmatchcase says.

Run from the repository's root with CPython 3.11 or newer; the result is the same every time.
"""

import fnmatch
import json
import random
import warnings

warnings.simplefilter("ignore")

HAND_PICKED = [
    ("file:///repo/**", "file:///repo/a/b"), ("file:///repo/**", "file:///repo/a.md"),
    ("file:///repo/**", "file:///repo"), ("file:///repo/**", "file:///repo/"), ("file:///repo/*", "file:///repo/a/b"),
    ("/a/**/b", "/a/b"), ("/a/**/b", "/a/x/b"), ("/a/**/b", "/a//b"), ("/r/**/*.ts", "/r/a.ts"),
    ("/r/**/*.ts", "/r/x/a.ts"), ("/r/src/**", "/r/srcs/x"), ("/r/src/**", "/r/src"), ("*.ts", "/x/y.ts"),
    ("{a,b}", "a"), ("{a,b}", "{a,b}"), ("A", "a"), ("a", "A"), ("", ""), ("", "a"), ("*", ""), ("**", ""),
    ("?", ""), ("?", "a"), ("?", "ab"), ("?", "\n"), ("*", "a\nb"), ("a*b", "a\n\nb"), ("?", "\U0001f600"),
    ("??", "\U0001f600"), ("[\U0001f600]", "\U0001f600"), ("[!\U0001f600]", "\U0001f601"),
    ("[\U0001f600-\U0001f602]", "\U0001f601"), ("[a-\U0001f602]", "\u00e9"), ("?", "\ud83d"), ("??", "\ud83d"),
    ("\ud83d*", "\U0001f600"), ("*\ude00", "\U0001f600"), ("*\ude00", "x\ude00"), ("[\ud83d]", "\U0001f600"),
    ("*\ud83d*", "a\U0001f600b"), ("[]]", "]"), ("[]]", "["), ("[!]]", "]"), ("[!]]", "a"), ("[]a]", "a"),
    ("[]-a]", "^"), ("[]-a]", "]"), ("[", "["), ("[a", "[a"), ("[a", "a"), ("[!", "[!"), ("[!]", "[!]"),
    ("[]", "[]"), ("a[", "a["), ("a[b*", "a[bc"), ("[[]", "["), ("[[a]", "a"), ("[^a]", "^"), ("[^a]", "b"),
    ("[^a]", "a"), ("[!a]", "a"), ("[!a]", "!"), ("[!a]", "b"), ("[!!]", "!"), ("[!!]", "a"), ("[a!]", "!"),
    ("[b-a]", "a"), ("[b-a]", "b"), ("[b-a]", "-"), ("[!b-a]", "x"), ("[!b-a]", "b"), ("[!b-a]", ""),
    ("[b-ac]", "c"), ("[b-ac]", "a"), ("[b-a!z]", "z"), ("[b-a!z]", "q"), ("[b-a^z]", "^"), ("[a-c-e]", "d"),
    ("[a-c-e]", "-"), ("[a-c-e]", "b"), ("[a-c-e]", "e"), ("[a-]", "-"), ("[a-]", "a"), ("[-a]", "-"),
    ("[-a]", "a"), ("[--a]", "."), ("[--a]", "-"), ("[---]", "-"), ("[----]", "-"), ("[!-a]", "-"), ("[!-a]", "b"),
    ("[!--a]", "-"), ("[!--a]", "b"), ("[a--]", "a"), ("[a--]", "-"), ("[+--]", ","), ("[\\]", "\\"), ("\\*", "\\x"),
    ("\\*", "*"), ("[\\-a]", "]"), ("[\\-a]", "\\"), ("[a&&b]", "&"), ("[a||b]", "|"), ("[a~~b]", "~"),
    ("[a&&b]", "a"), ("[[:alpha:]]", "a]"), ("[[:alpha:]]", ":]"), ("[a-z][0-9]", "b7"), ("[a-z][0-9]", "B7"),
    ("a.c", "abc"), ("a.c", "a.c"), ("a+", "aa"), ("a|b", "a"), ("(a)", "a"), ("^a$", "a"), ("a$", "a\n"),
    ("a", "a\n"), ("*a*a*b", "aaab"), ("*a*a*b", "aaa"), ("a*a", "a"), ("ab*bc", "abc"), ("ab*bc", "abbc"),
    ("*?", ""), ("*?", "x"), ("?*?", "x"), ("?*?", "xy"), ("*[ab]*[cd]", "xaxxd"), ("*[ab]*[cd]", "xdxa"),
    ("*" + "?" * 40, "x" * 39), ("*" + "?" * 40, "x" * 40), ("*" + "[ab]" * 70 + "*", "z" + "ab" * 35),
    ("*" + "[ab]" * 70 + "c", "ab" * 60 + "c"), ("a" * 31 + "?" + "b*", "a" * 31 + "xb"),
    ("?" * 31 + "b", "a" * 31 + "b"), ("?" * 32 + "b", "a" * 32 + "b"), ("?" * 63 + "b", "a" * 63 + "b"),
    ("?" * 64 + "b", "a" * 64 + "b"), ("?" * 64 + "b", "a" * 64), ("[a-b-]", "-"), ("[z-a-c]", "b"), ("[z-a-c]", "c"),
    ("[z-ab-c]", "b"), ("[z-ab-c]", "c"), ("[z-ab-c]", "z"), ("[d-cb-a]", "d"), ("[!d-cb-a]", "d"), ("[x-wa-c]", "b"),
    ("[!x-wa-c]", "b"), ("[!]-a]", "^"), ("[!]-a]", "z"), ("[]!]", "!"), ("[*]", "*"), ("[*]", "a"), ("[?]", "?"),
    ("[?]", "a"), ("a[*]b", "a*b"), ("[a]]", "a]"), ("[a]]", "a"), ("[.-0]", "/"), ("[/]", "/"), ("x[/]y", "x/y"),
]

PATTERN_PARTS = ["a", "b", "c", "-", "!", "[", "]", "*", "?", "/", ".", "^", "\\", "[ab]", "[!a]", "[a-c]", "[c-a]",
                 "**", "\u00e9", "\U0001f600", "[\u00e0-\u00ff]"]
VALUE_PARTS = ["a", "b", "c", "-", "!", "[", "]", "/", ".", "^", "\\", "\u00e9", "\U0001f600", "\n"]


def made_up(count):
    source = random.Random(20261130)
    seen = 0
    while seen < count:
        pattern = "".join(source.choice(PATTERN_PARTS) for _ in range(source.randint(1, 8)))
        value = "".join(source.choice(VALUE_PARTS[: source.choice([3, 7, 14])]) for _ in range(source.randint(0, 7)))
        matches = fnmatch.fnmatchcase(value, pattern)
        # Most random pairs do not match; keep all that do and a share of the others.
        if matches or source.random() < 0.15:
            seen += 1
            yield pattern, value


rows = [[p, v, fnmatch.fnmatchcase(v, p)] for p, v in [*HAND_PICKED, *made_up(900)]]
with open("test/tables/fnmatch.json", "w", encoding="ascii") as out:
    out.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
print(len(rows), "rows,", sum(row[2] for row in rows), "match")
