package import FreshetSocketHTTP
internal import Synchronization

/// The TLS of a server: makes the sessions of its connections, exchanges the certificates, and reports their age.
///
/// Every member may be called from any thread. Time is passed in.
package final class TLSServer: ByteLayerSource {
    private struct State {
        var settings: TLSSettings
        var context: TLSContext
        /// When the keys of the session tickets were made, in monotonic milliseconds.
        var keyTime: Int64
        /// The last warning, in monotonic milliseconds.
        var warningTime: Int64?
    }

    /// How long keys of session tickets are used, in milliseconds: then a stolen key opens no more than a day. A
    /// client with an older ticket has to perform a whole handshake.
    static let keyLifetime: Int64 = 86_400_000
    /// How long before its end a certificate is reported, in seconds.
    static let warningPeriod: Int64 = 14 * 86_400
    private static let warningInterval: Int64 = 86_400_000

    private let state: Mutex<State>
    /// The number of the present context, from 1. Changed while the state is locked, and read without.
    private let number = Atomic<Int>(1)

    /// Reads and checks the files. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - now: monotonic milliseconds.
    ///   - wall: seconds since 1970.
    package init(_ settings: TLSSettings, now: Int64, wall: Int64) throws(TLSError) {
        state = Mutex(State(settings: settings, context: try TLSContext(settings, now: wall), keyTime: now))
    }

    package func makeLayer() -> (any ByteLayer)? { TLSSession(context, of: self) }

    /// That of the connections that follow, by whose authority the certificates of present ones are judged too.
    var context: TLSContext { state.withLock { $0.context } }

    /// The number of that context, by which a session sees without a lock that it is still the same.
    var contextNumber: Int { number.load(ordering: .acquiring) }

    /// Reads the files again, for the connections that follow; existing ones keep the certificates they have. Blocks on
    /// the disk. If it throws, nothing has changed.
    package func reload(now: Int64, wall: Int64) throws(TLSError) {
        let prepared = try prepare(state.withLock { $0.settings }, wall: wall)
        take(prepared, now: now)
    }

    /// Certificates that were read and checked, for ``take(_:now:)``.
    package struct Prepared: Sendable {
        fileprivate let settings: TLSSettings
        fileprivate let context: TLSContext
    }

    /// Reads and checks the files of other settings. Blocks on the disk, and changes nothing.
    package func prepare(_ settings: TLSSettings, wall: Int64) throws(TLSError) -> Prepared {
        Prepared(settings: settings, context: try TLSContext(settings, now: wall))
    }

    /// Uses the certificates for the connections that follow.
    ///
    /// - Returns: whether a certificate or its chain is another one than before.
    @discardableResult package func take(_ prepared: Prepared, now: Int64) -> Bool {
        let former = state.withLock { state in
            defer {
                state = State(settings: prepared.settings, context: prepared.context, keyTime: now)
                number.add(1, ordering: .releasing)
            }
            return state.context
        }
        return !former.hasSameChains(as: prepared.context)
    }

    /// Stands for the certificates that sign those of clients; `nil` if clients need none.
    package var authority: String? { context.authority }

    /// The time at which the first certificate ends, in seconds since 1970.
    package var certificateEnd: Int64 { state.withLock { $0.context.end } }

    private func renewed(_ context: TLSContext, as other: TLSContext, now: Int64) {
        state.withLock { state in
            guard state.context === context else { return }
            (state.context, state.keyTime) = (other, now)
            number.add(1, ordering: .releasing)
        }
    }

    /// Exchanges the keys of session tickets once a day. To be called now and then.
    ///
    /// - Returns: a warning for the operator: of a certificate at most one a day, and of keys that could not be exchanged each time.
    package func timePassed(now: Int64, wall: Int64) -> String? {
        let (context, needsKeys, needsWarning) = state.withLock { state in
            let isDue = state.warningTime.map { now - $0 >= Self.warningInterval } ?? true
            let needsWarning = isDue && state.context.end - wall < Self.warningPeriod
            if needsWarning { state.warningTime = now }
            return (state.context, now - state.keyTime >= Self.keyLifetime, needsWarning)
        }
        if needsKeys {
            do throws(TLSError) { renewed(context, as: try context.withNewTicketKeys(), now: now) } catch {
                return "the keys of TLS session tickets are older than a day and could not be exchanged: \(error)"
            }
        }
        guard needsWarning else { return nil }
        let days = (context.end - wall) / 86_400
        return wall >= context.end
            ? "the certificate in \(context.firstToEnd) has expired, so clients refuse the server: renew it, then send SIGHUP"
            : "the certificate in \(context.firstToEnd) expires in \(days) days: renew it, then send SIGHUP"
    }
}
