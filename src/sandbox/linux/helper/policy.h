/* What the runtime asks for, as the command line says it. */
#ifndef POLICY_H
#define POLICY_H

#include "system.h"

/* A bound for the lists; the runtime sends some dozens. */
#define MOST_TEXTS 1024

struct text_list {
  const char *texts[MOST_TEXTS];
  int count;
};

struct policy {
  struct text_list denied;    /* neither read nor written, whatever is granted */
  struct text_list read_only; /* read, never written, whatever is granted */
  struct text_list writable;  /* granted for writing */
  struct text_list variables; /* names that the program may have in its environment */
  bool subprocess, network;
  int most_processes;         /* with `subprocess`: how many may live at once */
  long timeout_ms;            /* 0 is none; the runtime has the real deadline, this one holds when the runtime is stuck */
  long runtime_pid;           /* the process that must be our parent; 0 is not checked */
  const char *keeper_socket;  /* where rule sets are kept between runs, and the process that keeps them; or none */
  long keeper_pid;
  int assumed_abi;            /* acts as an older Landlock would; 0 does not. For tests: it can only refuse more */
  char **program;             /* argv, its first element absolute */
  char **environment;         /* of the program: what we have of the names that were listed */
};

/* Reads `argv`; refuses what it does not understand. */
void read_policy(struct policy *policy, int argc, char **argv, char **environment);

#endif
