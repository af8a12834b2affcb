/**
 * What the self test does inside: bash alone, by its own means, so that it works where no process may be started. `$1` is the
 * folder, `$2` a TCP port, `$3` is `lifted` when processes may be started. It says `name 1` for what worked and `name 0` for what was
 * refused. Starting a process comes last at the floor: bash ends when it cannot.
 */
export const PROBE_SCRIPT = `
cd "$1" || exit 9
port=$2
say() { echo "$1 $2"; }
try() { local name=$1; shift; if "$@"; then say "$name" 1; else say "$name" 0; fi; }
reads() { local line; IFS= read -r line < "$1"; }
lists() { local all; all=("$1"/*); [ "\${all[0]}" != "$1/*" ]; }
appends() { echo x >> "$1"; }
truncates() { : > "$1"; }
connects() { { :; } 9<> "$1"; }
signals() { kill -URG "$PPID"; }

try read_plain reads plain
try list_folder lists control
try dev_null appends /dev/null
try read_secret reads home/.ssh/key
try read_secret_by_dots reads granted/../home/.ssh/key
try read_secret_by_link reads link
try read_secret_by_case reads home/.SSH/KEY
try read_secret_by_volume reads "/System/Volumes/Data$PWD/home/.ssh/key"
try list_secret lists home/.ssh
try write_secret appends home/.ssh/key
try plant_secret truncates home/.ssh/planted
try write_plain appends plain
try truncate_plain truncates plain
try write_read_only appends control/reyn.yaml
try create truncates granted/new
try create_beside truncates beside
try signal_parent signals
try tcp connects /dev/tcp/127.0.0.1/$port
try udp connects /dev/udp/127.0.0.1/$port
if [ "$3" = lifted ]; then
  try move_secret /bin/mv home/.ssh granted/moved
  try move_above /bin/mv home granted/home
  try link_secret /bin/ln home/.ssh/key granted/linked
  try copy_secret /bin/cp home/.ssh/key granted/copied
  try run_secret home/.ssh/program
  try unix /usr/bin/perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un($ARGV[0])) or exit 1' socket
fi
say last 1
( : ) && say fork 1
`;

/** What the floor refuses and allows. */
export const FLOOR_REFUSES = [
  ...["read_secret", "read_secret_by_dots", "read_secret_by_link", "read_secret_by_case"],
  ...["read_secret_by_volume", "list_secret", "write_secret", "plant_secret", "write_plain"],
  ...["truncate_plain", "write_read_only", "create", "create_beside", "signal_parent", "tcp", "udp"],
];
export const FLOOR_ALLOWS = ["read_plain", "list_folder", "dev_null", "last"];

/** The same with every axis lifted: what the grants are for, and what they never cover. */
export const LIFTED_REFUSES = [
  ...FLOOR_REFUSES.filter((name) => !["create", "tcp", "udp"].includes(name)),
  ...["move_secret", "move_above", "link_secret", "copy_secret", "run_secret", "unix"],
];
export const LIFTED_ALLOWS = [...FLOOR_ALLOWS, "create", "tcp", "udp", "fork"];
