#include "attacker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

static long any_socket(char **a) { return socket((int)number(a[0]), (int)number(a[1]), (int)number(a[2])); }

static struct sockaddr_in loopback(const char *port) {
  return (struct sockaddr_in){AF_INET, htons((uint16_t)number(port)), {htonl(INADDR_LOOPBACK)}, {0}};
}

static long connect_tcp(char **a) {
  struct sockaddr_in address = loopback(a[0]);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
}
static long send_udp(char **a) {
  struct sockaddr_in address = loopback(a[0]);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  return fd < 0 ? -1 : sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof address);
}
static long bind_tcp(char **a) {
  struct sockaddr_in address = loopback(a[0]);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof address);
}

/* A name that starts with @ is abstract. */
static socklen_t unix_address(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  snprintf(address->sun_path, sizeof address->sun_path, "%s", name);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
  if (name[0] == '@') address->sun_path[0] = 0;
  else length++;
  return length;
}
static long connect_unix(char **a) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, a[0]);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, length);
}
static long pair(char **a) {
  int ends[2];
  return socketpair((int)number(a[0]), (int)number(a[1]), 0, ends);
}
/* Sends on one end of a pair with another's address; success only when the byte did not come out at the peer. */
static long readdress(char **a) {
  int ends[2];
  if (socketpair(AF_UNIX, (int)number(a[0]), 0, ends)) return -1;
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, a[1]);
  if (sendto(ends[0], "x", 1, 0, (struct sockaddr *)&address, length) < 0) return -1;
  char byte;
  if (recv(ends[1], &byte, 1, MSG_DONTWAIT) == 1) {
    errno = EISCONN;
    return -1;
  }
  return 0;
}
static long reconnect(char **a) {
  int ends[2];
  if (socketpair(AF_UNIX, (int)number(a[0]), 0, ends)) return -1;
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, a[1]);
  return connect(ends[0], (struct sockaddr *)&address, length);
}
static long connect_own(char **a) {
  (void)a;
  struct sockaddr_in address = loopback("9");
  return connect(0, (struct sockaddr *)&address, sizeof address);
}

const struct operation socket_operations[] = {
    {"socket", 3, any_socket},
    {"connect_tcp", 1, connect_tcp},
    {"send_udp", 1, send_udp},
    {"bind_tcp", 1, bind_tcp},
    {"connect_unix", 1, connect_unix},
    {"socketpair", 2, pair},
    {"readdress", 2, readdress},
    {"reconnect", 2, reconnect},
    {"connect_own", 0, connect_own},
    {0, 0, 0},
};
