public import FreshetWire

/// The errors of the SDK. Every case says what to do; a case about storing says whether data was lost.
public enum ClientError: Error, Hashable, Sendable {
    // MARK: The program

    /// A setting cannot work. Correct it as the text says.
    case invalidConfiguration(String)
    /// A collection, an id or a JSON pointer breaks the rules for names. Correct it as the text says.
    case invalidName(String)
    /// The value could not be encoded. Nothing was written: make it encodable, as the text says.
    case notEncodable(String)
    /// The stored value is not of the requested type. Read it as raw bytes, or open the collection with the right type.
    case notDecodable(key: String, String)
    /// The client is not running. Call ``SyncClient/start()``, and wait for it.
    case stopped
    /// ``SyncClient/clear(keepingOutbox:andStop:)`` was called while the operation was in flight: no earlier data is kept. Start again.
    case cleared

    /// The present value cannot take the operation, such as an increment of a text. Nothing was written; the text says why.
    case cannotApply(String)
    /// The write depends on the present record, which is not known. Read the key first, or let the last writer win.
    case baseUnknown(key: String)
    /// The client does not follow the record or the collection, so it would learn of no change, and cannot observe it. Add it to
    /// ``SyncClient/Configuration/collections`` or ``SyncClient/Configuration/prefix``, read it each time, or observe with
    /// ``ReadPolicy/cacheOnly``, which shows this device's waiting writes alone.
    case notFollowed(String)
    /// The client has never held all records of the collection, and the server cannot be reached, so it does not know which there are.
    /// Wait for ``SyncClient/waitUntilLive()`` once, or list the records that have arrived with ``ReadPolicy/cacheOnly``.
    case incompleteCopy(collection: String)
    /// There is no rejected write of this number: it was retried or discarded already, dropped for newer ones, or
    /// cleared. Nothing was written; read ``SyncClient/rejections`` again.
    case unknownRejection(Int64)

    // MARK: The disk

    /// Another client holds the directory. Stop that client, or give this one a different directory.
    case directoryInUse(path: String, holder: String)
    /// The directory or the file may not be written. Give this user the right to write both. Nothing was stored.
    case readOnly(path: String)
    /// The disk or the quota is full. This change was not stored and not sent; all earlier ones are kept. Make room and try again.
    case diskFull(path: String)
    /// A newer version created the file. Update the program, or name another directory. The file was not touched.
    case newerSchema(path: String, found: Int, supported: Int)
    /// The file is damaged. It was moved aside to `quarantine` and may hold writes that were never sent; the next
    /// start begins with an empty file. Keep the file if those writes matter, then open the client again.
    case corrupt(path: String, quarantine: String)
    /// The disk failed in another way. The text says how; nothing was stored.
    case storageFailed(path: String, String)

    // MARK: The network

    /// The server could not be reached, and no suitable value is cached. Try again when ``SyncClient/status`` is live.
    case unreachable(String)
    /// The server's certificate is not trusted, is for another name, or has expired; or its key is not pinned. Nothing was sent. See
    /// ``SyncClient/Configuration/authority`` and ``SyncClient/Configuration/pinnedKeys``.
    case untrusted(String)
    /// Something else answered in the server's place: a proxy, the login page of a network, a firewall, or another
    /// server under this URL. The answer has no effect: writes stay and are sent again, as if the server could not be
    /// reached. The text describes the answer.
    case intercepted(status: Int, String)
    /// The server at the URL belongs to another store than the directory. `found` is `nil` for a server that does not
    /// state its store.
    ///
    /// Nothing was sent or changed, and writes keep waiting. Correct the URL, or name another directory. If the move
    /// is intended, either set ``SyncClient/Configuration/adoptsStore``, which sends the waiting writes to the new
    /// store, or call ``SyncClient/clear(keepingOutbox:andStop:)``, which drops them.
    case otherStore(found: String?, expected: String)
    /// The data on this device belong to another principal: ``SyncClient/Configuration/principal`` is not that of the directory, or the
    /// server says that another one has written under the device's name. The writes of that principal wait, and none is sent.
    ///
    /// Start with that principal and its token to send them, name another directory, or call
    /// ``SyncClient/clear(keepingOutbox:andStop:)``, which makes the directory usable for this one. Without `keepingOutbox` it drops the writes.
    case otherPrincipal(pendingWrites: Int)
    /// The response is not from a Freshet server of this protocol. Check the URL and any proxies.
    case unexpectedResponse(String)
    /// All responses were older than a state that this device has already seen, as from a lagging copy of the server.
    /// Try again later.
    case outdated
    /// The server refused the token, and a fresh one too. Log in again.
    case unauthorized
    /// The server refused the request, for the reason in the problem.
    case refused(Problem)
    /// The server rejected a write, which was rolled back. The problem has the reason and the present record.
    case rejected(Problem)
    /// The token closure failed. The text is its error; requests are tried again with back-off.
    case noToken(String)
}

extension ClientError: CustomStringConvertible {
    /// A complete sentence, with the action to take.
    public var description: String {
        switch self {
        case .invalidConfiguration(let text): "invalid configuration: \(text)"
        case .invalidName(let text): text
        case .notEncodable(let text): "the value cannot be encoded, so nothing was written: \(text)"
        case .notDecodable(let key, let text):
            "the value of \(key) is not of the type asked for (\(text)): read it as raw bytes, or open the collection with its type"
        case .stopped: "the client is not running: call start() and wait for it"
        case .cleared: "the client was cleared during the operation: no earlier data is kept, so start again"
        case .cannotApply(let text): "nothing was written: \(text)"
        case .baseUnknown(let key):
            "\(key) was never read on this device, so a change cannot be detected: read it first, or let the last writer win"
        case .notFollowed(let name):
            """
            \(name) is outside of what this client follows, so no change of it would be seen: add it to the configuration's collections or \
            prefix, read it each time it is needed, or observe it with .cacheOnly, which shows this device's waiting writes
            """
        case .incompleteCopy(let collection):
            """
            this device has never held all records of \(collection), and the server cannot be reached: connect it once and wait for \
            waitUntilLive(), or list the records that have arrived with .cacheOnly
            """
        case .unknownRejection(let number):
            "the rejection of write \(number) is not kept: it was retried, discarded or dropped already, so read client.rejections again"
        case .directoryInUse(let path, let holder):
            "\(path) is in use by \(holder): stop that client, or give this one a different directory"
        case .readOnly(let path): "\(path) may not be written: give this user the right to write the file and its directory"
        case .diskFull(let path):
            "no room for \(path): this change was neither stored nor sent, all earlier ones are kept; make room and try again"
        case .newerSchema(let path, let found, let supported):
            "\(path) has schema \(found), this version knows up to \(supported): update the program, or name another directory"
        case .corrupt(let path, let quarantine) where quarantine == path:
            "\(path) is damaged, or is no file of a client, and stays where it is: move it away to begin with an empty one"
        case .corrupt(let path, let quarantine):
            """
            \(path) is damaged and was moved to \(quarantine); writes that were not yet sent may still be in it: keep it if they \
            matter, then open the client again, which starts from nothing
            """
        case .storageFailed(let path, let text): "\(path): \(text)"
        case .unreachable(let text): "the server cannot be reached: \(text)"
        case .untrusted(let text): text
        case .intercepted(let status, let text):
            """
            the server cannot be reached: something else answered in its place with status \(status) (\(text)); sign in to the network if it \
            has a login page, or check the URL and the proxies
            """
        case .otherStore(let found, let expected):
            """
            the server is \(found.map { "the store \($0)" } ?? "a store that does not say which it is"), and the directory belongs to the store \
            \(expected), so nothing was sent: correct the URL or name another directory; to go over to this store, set adoptsStore, which sends \
            it the waiting writes, or call clear(), which drops them
            """
        case .otherPrincipal(let count):
            """
            the data on this device belong to another principal, \(count == 0 ? "with no waiting write" : count == 1 ? "whose 1 write waits" : "whose \(count) writes wait"): \
            start with that principal and its token\(count == 0 ? "" : " to send them"), name another directory, or call clear(), which removes all of it
            """
        case .unexpectedResponse(let text): "the response is not from a Freshet server: \(text); check the URL and any proxies"
        case .outdated: "all answers were older than what this device has already seen: try again later"
        case .unauthorized: "the server refused the token, a fresh one too: log in again"
        case .refused(let problem): "the server refused the request: \(problem)"
        case .rejected(let problem): "the server rejected the write, which was rolled back: \(problem)"
        case .noToken(let text): "the token closure failed: \(text)"
        }
    }
}
