import glob, json, os, sqlite3, sys

PATH = ".reyn/state/reyn.db"
SCHEMA = """
  CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT,
    epoch INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    wal_seq INTEGER NOT NULL,
    wal_pos INTEGER NOT NULL,
    waking INTEGER NOT NULL,
    passive INTEGER NOT NULL,
    demoted INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    status TEXT NOT NULL
  ) STRICT;

  CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (session, id)
  ) STRICT;

  CREATE TABLE inbox (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    wake INTEGER NOT NULL CHECK (wake IN (0, 1, 2)),
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE wal (
    pos INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    prev INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE snapshot (
    session INTEGER PRIMARY KEY,
    upto_seq INTEGER NOT NULL,
    pos INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE history (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    items TEXT NOT NULL
  ) STRICT;
  CREATE INDEX history_session ON history (session);

  CREATE TABLE maintenance (session INTEGER PRIMARY KEY) STRICT;

  CREATE TRIGGER wal_no_update BEFORE UPDATE ON wal BEGIN
    SELECT RAISE(ABORT, 'wal is append-only');
  END;
  CREATE TRIGGER wal_no_delete BEFORE DELETE ON wal
  WHEN NOT EXISTS (SELECT 1 FROM maintenance WHERE session = OLD.session)
    OR NOT EXISTS (SELECT 1 FROM snapshot WHERE session = OLD.session AND upto_seq >= OLD.seq)
  BEGIN
    SELECT RAISE(ABORT, 'wal is append-only');
  END;
"""

if sys.argv[1:] == ["check"]:
    [copy] = glob.glob(PATH + ".version-1-*")
    db = sqlite3.connect(copy)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    mode = oct(os.stat(copy).st_mode & 0o777)[2:]
    print(version, mode, db.execute("SELECT count(*) FROM message").fetchone()[0])
    sys.exit()

RECORDS = [
    {"t": "opened", "at": 1},
    {
        "t": "turn_started",
        "at": 2,
        "turn": 1,
        "kind": "user",
        "chain": "m1",
        "valve": "reset",
        "messages": [{"id": "m1", "role": "user", "text": "hello", "turn": 1}],
        "about": 0,
    },
    {
        "t": "step",
        "turn": 1,
        "step": 1,
        "messages": [{"id": "s1", "role": "assistant", "text": "echo: hello", "turn": 1}],
    },
    {"t": "turn_ended", "at": 3, "turn": 1, "status": "ok", "retry": False},
    {"t": "ended", "at": 4},
]

os.makedirs(os.path.dirname(PATH), 0o700, exist_ok=True)
db = sqlite3.connect(PATH)
db.execute("PRAGMA journal_mode = WAL")
db.executescript(SCHEMA)
db.execute(
    "INSERT INTO session VALUES (1, 'default/main', NULL, 1, 0, 5, 5, 0, 0, 0, 0, 1, 4, ?)",
    [json.dumps({"open": False, "turns": 1, "count": 0, "cap": 25, "closed": False, "suspended": None})],
)
db.executemany("INSERT INTO message VALUES (?, 1, ?)", [(1, "m1"), (2, "m2")])
for n, record in enumerate(RECORDS, 1):
    db.execute("INSERT INTO wal VALUES (?, 1, ?, ?, ?)", (n, n, n - 1, json.dumps(record)))
db.execute("PRAGMA application_id = 0x7265796e")
db.execute("PRAGMA user_version = 1")
db.commit()
db.close()
