import FreshetServer
import Logging

#if PostgreSQL
import FreshetPostgreSQL
import FreshetPostgreSQLStore
#endif

/// A store that several servers may share, named by a URI.
struct StoreLocation {
    let uri: String

    private static let supported = "a store is named by a URI such as postgres://freshet@db.example/freshet"

    #if PostgreSQL
    /// - Throws: a failure that says how to name a store.
    init(_ uri: String) throws(CommandFailure) {
        guard ConnectionSettings.isURI(uri) else { throw CommandFailure(.usage, "\(Self.supported), and not so") }
        do throws(PostgreSQLError) { _ = try ConnectionSettings(uri: uri) } catch { throw CommandFailure(.usage, error.message) }
        self.uri = uri
    }

    /// Opens the store, and makes or updates its schema. Refuses a store that a failover has changed, until a server has used it: the
    /// servers alone know whether the epochs stay.
    func open() throws(CommandFailure) -> PostgreSQLRecordStore {
        var configuration = PostgreSQLRecordStore.Configuration()
        configuration.failover = nil
        do throws(StoreError) {
            return try PostgreSQLRecordStore(uri: uri, configuration: configuration)
        } catch { throw CommandFailure(error) }
    }

    /// Opens the store for a server.
    ///
    /// - Parameters:
    ///   - listens: whether the servers notify each other of their commits.
    ///   - keepsEpochs: whether the epochs stay after a failover.
    ///   - hostCheckInterval: how often the hosts are asked whether another one has taken over.
    func shared(
        listens: Bool, keepsEpochs: Bool, hostCheckInterval: Duration, logger: Logger
    ) throws(CommandFailure) -> SharedStore {
        do throws(StoreError) {
            return try PostgreSQLRecordStore.shared(
                uri: uri, listens: listens, failover: keepsEpochs ? .keep : .renew, hostCheckInterval: hostCheckInterval, logger: logger)
        } catch { throw CommandFailure(error) }
    }

    /// Makes a key in the store, which has to have its schema.
    func makeKey(request: [UInt8], now: Int64) throws -> (id: String, token: String) {
        guard try inspect().isReady else { throw Self.notReady }
        let store = try open()
        do { return try OfflineKeys.make(in: store, request: request, now: now) } catch let error as StoreError {
            throw CommandFailure(error)
        }
    }

    /// The totals of the store. Changes nothing.
    func totals() throws(CommandFailure) -> StoreTotals {
        let totals: StoreTotals?
        do throws(StoreError) { totals = try PostgreSQLRecordStore.totals(uri: uri) } catch { throw CommandFailure(error) }
        guard let totals else { throw Self.notReady }
        return totals
    }

    /// The store as an end of a copy.
    func copyEnd() throws(CommandFailure) -> any StoreCopyEnd {
        do throws(StoreError) { return try PostgreSQLCopyEnd(uri: uri) } catch { throw CommandFailure(error) }
    }

    private static let notReady = CommandFailure(
        .data, "the database has no schema of this version: 'freshet store init' makes it, or brings it up to date")

    func inspect() throws(CommandFailure) -> PostgreSQLRecordStore.Inspection {
        do throws(StoreError) { return try PostgreSQLRecordStore.inspect(uri: uri) } catch { throw CommandFailure(error) }
    }
    #else
    init(_ uri: String) throws(CommandFailure) {
        throw CommandFailure(
            .usage,
            "this freshet was built without PostgreSQL: build it with 'swift build -c release --product freshet --traits PostgreSQL'")
    }

    func shared(
        listens: Bool, keepsEpochs: Bool, hostCheckInterval: Duration, logger: Logger
    ) throws(CommandFailure) -> SharedStore {
        throw CommandFailure(.software, Self.supported)
    }

    func copyEnd() throws(CommandFailure) -> any StoreCopyEnd { throw CommandFailure(.software, Self.supported) }

    func makeKey(request: [UInt8], now: Int64) throws -> (id: String, token: String) { throw CommandFailure(.software, Self.supported) }
    #endif
}

extension CommandFailure {
    /// Why a store cannot be used.
    init(_ error: StoreError) {
        // A command may only look at a database, so the text for clients of a server, which speaks of a transaction, does not fit.
        if case .unavailable(let path, let reason) = error {
            self.init(.unavailable, "\(path) cannot be reached: \(reason)")
            return
        }
        let status: ExitStatus =
            switch error {
            case .newerSchema, .corrupt, .notADatabase, .notEmpty, .unusable: .data
            case .noStore: .noInput
            case .invalidPath: .usage
            case .unavailable, .inUse, .serversConnected: .unavailable
            case .overloaded, .outcomeUnknown: .tryAgain
            case .missingDirectory, .notADirectory, .readOnly: .cannotCreate
            case .full, .revisionsExhausted, .copyDiffers, .moved, .failed: .inputOutput
            }
        self.init(status, error.description)
    }
}
