import ArgumentParser
import FreshetClient
import FreshetTransport
import FreshetTrust
import FreshetWire
import HTTPTypes

/// `freshet rights`: whether a key or token allows an operation.
struct RightsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rights", abstract: "Ask a server whether a key or token allows an operation, and by which grant.",
        discussion: """
            The exit status is 0 if the server would allow it, and 77 if not.

            EXAMPLES
              freshet rights --token-file till.key shop:articles/1 read
              freshet rights --token-file till.key --namespace shop 'carts/u7/*' write
              freshet rights --token-file till.key 'shop:*' drop
            """)

    @Argument(help: "A record, a collection, COLLECTION/PREFIX*, or * for the whole namespace; NAMESPACE: may precede it.") var key: String
    @Argument(
        help: "What to do with it: read, write or invalidate; create, drop or inspect the namespace.",
        completion: .list(Verb.allCases.map(\.rawValue)))
    var verb: String
    @OptionGroup var options: RemoteOptions

    /// The namespace, if the key names one, and the range.
    private var parts: (namespace: String?, range: String) {
        // A collection has no colon, and an id may have some.
        guard let colon = key.firstIndex(of: ":"), !key[..<colon].contains("/") else { return (nil, key) }
        return (String(key[..<colon]), String(key[key.index(after: colon)...]))
    }

    func validate() throws {
        guard Verb(rawValue: verb) != nil else {
            throw ValidationError("'\(verb)' is no verb: it takes \(Verb.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        do { _ = try KeyRange(range: parts.range) } catch { throw ValidationError("\(error)") }
        guard parts.namespace == nil || options.namespace == nil else {
            throw ValidationError("the key names a namespace: leave out --namespace")
        }
    }

    func run() async throws {
        guard let verb = Verb(rawValue: verb) else { return }
        var options = options
        options.namespace = parts.namespace ?? options.namespace
        let range = verb.concernsNamespace ? KeyRange.everything : try KeyRange(range: parts.range)
        let remote = try options.remote()
        let answer = try RightsAnswer(try await remote.reply(.get, remote.namespace.path + "/rights"), verb)
        let (principal, address) = (answer.principal, "\(remote.namespace):\(range.rangeText)")
        guard let grant = answer.ranges.first(where: { $0.covers(range) }) else {
            let ranges =
                answer.ranges.isEmpty ? "nothing" : answer.ranges.map { "\(remote.namespace):\($0.rangeText)" }.joined(separator: ", ")
            guard answer.isAuthenticated else {
                throw CommandFailure(.noPermission, "requests without a key may not \(verb.rawValue) \(address): send one, by --token-file")
            }
            let hint =
                principal.hasPrefix("key:") || Principal(text: principal).certificateName != nil
                ? "'freshet status' shows its rights" : "'freshet token inspect' shows why it has its rights"
            throw CommandFailure(
                .noPermission,
                "\(principal) may not \(verb.rawValue) \(address). It may \(verb.rawValue) \(ranges). Ask the operator for the grant "
                    + "'\(address):\(verb.rawValue)'; \(hint)")
        }
        StandardStream.output.printLine(
            StandardStream.output.visible(
                "\(principal) may \(verb.rawValue) \(address): its grant of \(remote.namespace):\(grant.rangeText) allows it"))
    }
}

/// The answer of `GET /v1/{ns}/rights`.
private struct RightsAnswer {
    private(set) var principal = "everybody"
    /// Whether the request had a key or token.
    var isAuthenticated: Bool { principal != Principal.anonymous.text }
    /// The ranges of one verb.
    private(set) var ranges: [KeyRange] = []

    init(_ reply: HTTPReply, _ verb: Verb) throws(CommandFailure) {
        do throws(WireError) {
            var reader = JSONReader(reply.body)
            try reader.beginObject()
            while let member = try reader.nextMember() {
                switch member.text {
                case "principal":
                    if try !reader.takeNull() { principal = try reader.string() }
                case verb.rawValue:
                    try reader.beginArray()
                    while try reader.nextElement() { ranges.append(try KeyRange(range: try reader.string())) }
                default: try reader.skip()
                }
            }
        } catch { throw CommandFailure(unreadable: error) }
    }
}
