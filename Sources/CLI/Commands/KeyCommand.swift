import ArgumentParser
import FreshetClient
import FreshetServer
import FreshetTransport
import FreshetTrust
import FreshetWire
import HTTPTypes

/// `freshet key …`: the keys of a server that requires them.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, list and revoke the keys of a server that requires them.",
        discussion: """
            A server that is started with --require-keys answers only requests with a key. A process that can open its admin socket
            makes keys without one. An administrator's key may do everything and make others, also from other machines. Without
            a socket, the first one is made in the server's folder while the server does not run, or in the servers' store.

            EXAMPLES
              freshet serve --require-keys --admin-socket ./admin.sock
              freshet key create --admin-socket ./admin.sock --name till --allow 'shop:articles:read' --out till.key
              freshet key create --data ./freshet-data --name operator --admin --out operator.key
              freshet key create --store postgres://freshet@db.example/freshet --name operator --admin --out operator.key
              freshet key create --token-file operator.key --name backend --allow 'shop:orders/*:read,write' --expires 90d
              freshet key list --token-file operator.key
              freshet key rotate ID --token-file operator.key --overlap 7d
              freshet key revoke ID --token-file operator.key
            """,
        subcommands: [KeyCreate.self, KeyList.self, KeyRotate.self, KeyDisable.self, KeyEnable.self, KeyRevoke.self])
}

/// The key that a command is about.
struct KeyArgument: ParsableArguments {
    @Argument(help: "The key's id, as 'freshet key list' shows it.") var id: String

    func validate() throws {
        guard KeyIdentifier(id) != nil else {
            throw ValidationError("an id has \(KeyIdentifier.count) characters of a-z and 2-7; '\(id)' is none")
        }
    }

    var path: String { "/admin/keys/\(id)" }
}

/// Where a new secret goes.
struct SecretOutput: ParsableArguments {
    @Option(help: ArgumentHelp("Write the key to a new file that only you can read, and not to the terminal.", valueName: "path"))
    var out: String?

    /// Makes a key or a secret of one, and shows the secret. The file is created first: a path that cannot be written then costs no
    /// secret.
    func show(_ make: () async throws -> (id: String, token: String)) async throws {
        guard let out else { return StandardStream.output.printLine(try await make().token) }
        let file = try SecretFile(creating: out)
        let made: (id: String, token: String)
        do { made = try await make() } catch {
            file.remove()
            throw error
        }
        do throws(CommandFailure) { try file.fill(made.token + "\n") } catch {
            throw CommandFailure(
                error.status,
                "\(error.message); the new secret of the key \(made.id) is lost: make another with 'freshet key rotate \(made.id)', or revoke "
                    + "the key")
        }
        StandardStream.output.printLine("\(made.id) is in \(out)")
    }
}

struct KeyCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a key, and show it for the only time.",
        discussion: """
            EXAMPLES
              freshet key create --data ./freshet-data --name operator --admin
              freshet key create --name backend --allow 'shop:orders/*:read,write' --allow 'shop:articles:read'
            """)

    @Option(help: "A name for people: who or what uses the key.") var name: String
    @Option(help: ArgumentHelp("What the key may do, as \(AllowArgument.form); can be repeated.", valueName: "grant"))
    var allow: [String] = []
    @Flag(help: "An administrator's key: it makes and revokes keys, and without --allow it may do everything.") var admin = false
    @Option(help: ArgumentHelp("How long the key is valid: \(DurationArgument.form). (default: without end)", valueName: "duration"))
    var expires: String?
    @Option(
        help: ArgumentHelp("Make it in the folder of a server that does not run, instead of asking a server.", valueName: "folder"),
        completion: .directory)
    var data: String?
    @Option(
        help: ArgumentHelp(
            "Make it in a store in PostgreSQL, instead of asking a server. Servers that run accept it within half a second.",
            valueName: "uri"))
    var store: String?
    @OptionGroup var secret: SecretOutput
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        guard admin || !allow.isEmpty else { throw ValidationError("a key without --allow and --admin could do nothing: add one of them") }
        guard data == nil || store == nil else { throw ValidationError("one of these: --data, --store") }
        for text in allow where AllowArgument(text) == nil { throw ValidationError("--allow takes \(AllowArgument.form), not '\(text)'") }
        if let expires, DurationArgument(expires) == nil {
            throw ValidationError("--expires takes \(DurationArgument.form), not '\(expires)'")
        }
    }

    func run() async throws {
        let grants = AllowArgument.json(allow.compactMap { AllowArgument($0) })
        let now = ServerEnvironment.system.wallMilliseconds()
        let end = expires.flatMap { DurationArgument($0) }.map { now + $0.seconds * 1_000 }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", name)
        if !allow.isEmpty {
            writer.member("allow")
            writer.raw(grants)
        }
        writer.member("admin")
        writer.boolean(admin)
        if let end { writer.member("expires", end) }
        writer.endObject()
        let location = try store.map { uri throws(CommandFailure) in try StoreLocation(uri) }
        try await secret.show { [request = writer.bytes] in
            do {
                if let data { return try OfflineKeys.make(inDirectory: data, request: request, now: now) }
                if let location { return try location.makeKey(request: request, now: now) }
            } catch { throw CommandFailure(offline: error) }
            return try await options.operatorRemote().newKey("/admin/keys", body: request)
        }
    }
}

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all keys, without their secrets.",
        discussion: """
            A line each: id, state, the day of its last use (UTC), the day on which it expires, name, and what it may do.
            With --json, the server's answer.
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func run() async throws {
        // All of them in one answer, of the operator's server: 10,000 keys may have 64 ranges each.
        let reply = try await options.operatorRemote().reply(.get, "/admin/keys", atMost: 1 << 30)
        let now = ServerEnvironment.system.wallMilliseconds()
        try KeyLines.show(reply.body, now: now, as: output, by: KeyLines.keys)
    }
}

struct KeyRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace the secret of a key, and show the new one for the only time.")

    @OptionGroup var key: KeyArgument
    @Option(
        help: ArgumentHelp("How long the former secret stays valid: \(DurationArgument.form). (default: not at all)", valueName: "duration")
    )
    var overlap: String?
    @OptionGroup var secret: SecretOutput
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if let overlap, DurationArgument(overlap) == nil {
            throw ValidationError("--overlap takes \(DurationArgument.form), not '\(overlap)'")
        }
    }

    func run() async throws {
        let body = #"{"overlap":\#(overlap.flatMap { DurationArgument($0) }?.seconds ?? 0)}"#
        let remote = try options.operatorRemote()
        try await secret.show { try await remote.newKey(key.path + "/rotate", body: Array(body.utf8)) }
    }
}

struct KeyDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "disable", abstract: "Disable a key until it is enabled again.")

    @OptionGroup var key: KeyArgument
    @OptionGroup var options: RemoteOptions

    func run() async throws { try await options.operatorRemote().setDisabled(true, key) }
}

struct KeyEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "enable", abstract: "Enable a key that was disabled.")

    @OptionGroup var key: KeyArgument
    @OptionGroup var options: RemoteOptions

    func run() async throws { try await options.operatorRemote().setDisabled(false, key) }
}

struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key for good.",
        discussion: "When the command returns, no write of the key is applied any more, and its waiting requests have ended.")

    @OptionGroup var key: KeyArgument
    @OptionGroup var options: RemoteOptions

    func run() async throws { _ = try await options.operatorRemote().reply(.delete, key.path) }
}

extension Remote {
    fileprivate func setDisabled(_ isDisabled: Bool, _ key: KeyArgument) async throws(CommandFailure) {
        let body = Array(#"{"disabled":\#(isDisabled)}"#.utf8)
        _ = try await reply(.patch, key.path, fields: [.contentType: Content.json], body: body, isRepeatable: true)
    }

    /// Has the server make a key, or replace the secret of one.
    fileprivate func newKey(_ path: String, body: [UInt8]) async throws -> (id: String, token: String) {
        let key = try NewKey(await reply(.post, path, fields: [.contentType: Content.json], body: body))
        return (key.id, key.token)
    }
}

/// The answer to the making of a key.
private struct NewKey {
    let id: String
    let token: String

    init(_ reply: HTTPReply) throws {
        var token: String?
        var reader = JSONReader(reply.body)
        try reader.beginObject()
        while let member = try reader.nextMember() {
            if member == "key" { token = try reader.string() } else { try reader.skip() }
        }
        guard let token, let key = try? AccessKey(Array(token.utf8)) else {
            throw CommandFailure(.software, "the server's answer has no key")
        }
        self.token = token
        id = key.id.text
    }
}

extension CommandFailure {
    fileprivate init(offline error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as RecordServerError: self.init(error)
        default: self.init(.usage, "\(error)")
        }
    }
}
