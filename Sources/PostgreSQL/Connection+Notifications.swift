#if PostgreSQL
internal import CFreshetPostgreSQL
internal import Glibc

extension Connection {
    /// A message of `NOTIFY`.
    package struct Notification: Hashable, Sendable {
        package let channel: String
        package let text: String
    }

    /// The notifications that have arrived, without waiting for any. Those that came with the answers of an exchange are among them.
    ///
    /// - Throws: a failure of the category `connectionLost` if the connection has ended; then none is returned.
    package func takeNotifications() throws(PostgreSQLError) -> [Notification] {
        guard isUsable, PQconsumeInput(handle) == 1 else { throw failure(.connectionLost) }
        var taken: [Notification] = []
        while let found = PQnotifies(handle) {
            taken.append(Notification(channel: String(cString: found.pointee.relname), text: String(cString: found.pointee.extra)))
            PQfreemem(found)
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw failure(.connectionLost) }
        return taken
    }

    /// Waits until something arrives, or the other descriptor is readable, or the moment has passed.
    package func wait(or descriptor: Int32, until deadline: Deadline) {
        var polled = [pollfd(fd: socket, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        _ = poll(&polled, 2, deadline.milliseconds)
    }
}
#endif
