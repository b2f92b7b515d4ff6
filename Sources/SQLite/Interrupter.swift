internal import CFreshetSQLite
internal import Synchronization

/// Ends whatever statement a connection is running, from any thread; that statement fails as ``SQLiteError/Category/interrupted``.
///
/// It may outlive its connection, and does nothing then.
package final class Interrupter: Sendable {
    /// The handle's address, for a pointer is not `Sendable`. None once the connection is closed, since
    /// <https://www.sqlite.org/c3ref/interrupt.html> forbids the call from then on.
    private let address: Mutex<UInt?>

    init(_ handle: OpaquePointer) { address = Mutex(UInt(bitPattern: handle)) }

    package func interrupt() {
        address.withLock { address in
            guard let address, let handle = OpaquePointer(bitPattern: address) else { return }
            sqlite3_interrupt(handle)
        }
    }

    func disarm() { address.withLock { $0 = nil } }
}
