use strict; use warnings; use IO::Socket::INET;
my ($port, $answer) = @ARGV;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => 16, ReuseAddr => 1) or die $!;
$| = 1; print "ready\n";
while (my $client = $server->accept) {
  my ($head, $length, $body) = ("", 0, "");
  while (defined(my $line = <$client>)) { $head .= $line; $length = $1 if $line =~ /^content-length:\s*(\d+)/i; last if $line =~ /^\r?\n$/; }
  read($client, $body, $length) if $length;
  open(my $out, ">>", "seen") or die $!; print $out "$head$body\n"; close $out;
  $answer =~ s/\\r/\r/g; $answer =~ s/\\n/\n/g;
  print $client $answer; close $client;
}
