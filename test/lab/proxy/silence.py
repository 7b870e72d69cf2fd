"""A TCP relay whose connections fall silent as behind a firewall that forgot them: no FIN, no RST, no acknowledgement.

The kernel drops every packet for an accepted socket before TCP sees it. Connections that are opened later work.
"""

import ctypes
import socket
import struct
import sys
import threading

SO_ATTACH_FILTER = 26
# One instruction: return 0, which keeps no byte of a packet.
DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
FILTER = struct.pack("HL", 1, ctypes.addressof(DROP_ALL))

host, port = sys.argv[1], int(sys.argv[2])
connections = set()


def carry(connection, source, target):
    try:
        while data := source.recv(65536):
            if connection not in connections:
                return
            target.sendall(data)
    except OSError:
        pass
    # A silent connection stays open on both sides.
    if connection in connections:
        connections.discard(connection)
        for end in connection:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def accept(listener):
    while True:
        client, _ = listener.accept()
        try:
            database = socket.create_connection((host, port))
        except OSError:
            client.close()
            continue
        for end in (client, database):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = (client, database)
        connections.add(connection)
        for source, target in (connection, connection[::-1]):
            threading.Thread(target=carry, args=(connection, source, target), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(f"port {listener.getsockname()[1]}", flush=True)

silent = []
for _ in sys.stdin:
    for connection in list(connections):
        connection[0].setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, FILTER)
        connections.discard(connection)
        silent.append(connection)
    print(f"silent {len(silent)}", flush=True)
