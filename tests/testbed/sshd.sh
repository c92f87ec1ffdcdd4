# The three servers of ssh-up, for the scripts that start, break and stop them. Source it after lib.sh.
PORT=${SSH_PORT:-2222}; JPORT=$((PORT+1)); IPORT=$((PORT+2))
D=$TB_STATE/ssh; R=$TB_RUN/ssh

# sshd_address SERVER: "HOST PORT" where it listens.
sshd_address() { case $1 in cluster) echo "127.0.0.1 $PORT";; jump) echo "127.0.0.1 $JPORT";; inner) echo "127.0.0.2 $IPORT";; esac; }
# sshd_comm SERVER: the name of its listening process (inner has a gate in front of it).
sshd_comm() { case $1 in inner) echo python3;; *) echo sshd;; esac; }

# sshd_listener SERVER: pid of its listening process; fails when there is none. A pid file that is
# lost, or names another process, is written again from the process that listens.
sshd_listener() {
  local file=$R/$1.pid p line
  if pid_alive "$file" && [ "$(cat "/proc/$(cat "$file")/comm" 2>/dev/null)" = "$(sshd_comm "$1")" ]; then
    cat "$file"; return 0
  fi
  for p in $(grep -lx "$(sshd_comm "$1")" /proc/[0-9]*/comm 2>/dev/null); do
    p=${p%/comm}; p=${p#/proc/}
    line=$(tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline")
    case "$1 $line" in
      inner*gate.py" $file "*|[cj]*" -f $D/$1.conf "*"[listener]"*) echo "$p" >"$file"; echo "$p"; return 0;;
    esac
  done
  return 1
}
# sshd_open SERVER: something listens there (looked up: a connection would be a session more).
sshd_open() {
  local host port o; read -r host port <<<"$(sshd_address "$1")"; IFS=. read -ra o <<<"$host"
  grep -q ": $(printf '%02X%02X%02X%02X:%04X' "${o[3]}" "${o[2]}" "${o[1]}" "${o[0]}" "$port") 00000000:0000 0A" /proc/net/tcp
}
sshd_closed() { ! sshd_open "$1"; }
sshd_ready() { sshd_listener "$1" && sshd_open "$1"; }

# sshd_start SERVER: start it unless it listens; it does when this returns.
sshd_start() {
  sshd_listener "$1" >/dev/null && { wait_for 10 sshd_ready "$1"; return; }
  rm -f "$R/$1.pid"
  if [ "$1" = inner ]; then
    /usr/bin/python3 "$TB_HERE/gate.py" "$R/inner.pid" 127.0.0.2 "$IPORT" cmjump -- \
      /usr/sbin/sshd -i -f "$D/inner.conf" -E "$TB_LOG/sshd-inner.log" </dev/null >>"$TB_LOG/sshd-inner.log" 2>&1 9>&-
  else
    /usr/sbin/sshd -f "$D/$1.conf" -E "$TB_LOG/sshd-$1.log" 9>&-
  fi
  wait_for 10 sshd_ready "$1" || return 1
  say "sshd $1 started"
}
