/** What `reyn init` writes as reyn.yaml. Lines that begin with `#` and no blank, or two, are examples. */
export const INIT_CONFIG = `# yaml-language-server: $schema=.reyn/schema.json
#
# How reyn runs sessions in this folder. \`reyn check\` tells what is wrong here, with its place.
# Each commented line without a blank after its # is an example that works: take the # away.

# Who answers. echo needs nothing: it says again what it is told. scripted plays a file, command runs a
# program of yours (once you \`reyn trust\` this folder).
model:
  provider: echo

# Hooks react to points in a session's life; \`reyn hooks points\` lists them with their fields.
hooks:
  # When the first turn has ended, ask for another one.
  - name: once-more
    on: turn_end
    template_push:
      message: "Anything left to do, {{ agent_name }}?"
      push_when: "{{ hook_driven_turns == 0 }}"

# Tell the next turn that this one failed, without starting it.
#  - name: failed
#    on: turn_end
#    matcher: { status: error }
#    template_push: { message: "The last turn failed.", wake: false }

# Run a command, whose output is what to push. It runs confined, and only with your consent:
# \`reyn hooks allow clock\`.
#  - name: clock
#    on: session_start
#    exec_capture: [date, '+{"push_when": true, "wake": false, "message": "It is %H:%M."}']

# Run a command for what it does. It may write what it is granted, here the folder out (make it first),
# and reads the event as JSON on stdin.
#  - name: log
#    on: turn_end
#    exec: [sh, -c, "exec cat >>out/turns.jsonl"]
#    write_paths: [out]

# How many turns in a row hooks may start before a person has to say something.
#safety:
#  loop: { max_hook_driven_turns: 10 }
#  on_limit: warn

# Another agent, for \`reyn run --agent reviewer\`, and the folder that it works in.
#agents:
#  reviewer: { model: { provider: echo }, workspace: reviews }

# What no command of a hook may read, besides keys and passwords.
#sandbox:
#  deny_read: [private]

# A turn that a crash interrupted is tried again; skip leaves it.
#resume: retry

# Seconds that hooks have left when reyn is told to stop.
#shutdown_grace: 10
`;

/** What of .reyn is not for sharing. */
export const INIT_GITIGNORE = `state/
events/
agents/*/state/
`;
