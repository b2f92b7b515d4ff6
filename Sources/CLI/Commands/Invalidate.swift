import ArgumentParser
import FreshetClient
import FreshetTransport
import FreshetWire
import HTTPTypes

struct Invalidate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Invalidate the cached copies of records that another system owns.",
        discussion: """
            EXAMPLES
              freshet invalidate prices/7 prices/8
              freshet invalidate --collection prices --prefix eu-
              freshet invalidate --all
            """)

    @Argument(help: "Records, as COLLECTION/ID.", transform: { try RecordKey($0) }) var keys: [RecordKey] = []
    @Option(help: ArgumentHelp("All of this collection.", valueName: "name")) var collection: String?
    @Option(help: ArgumentHelp("With --collection: only ids that begin so.", valueName: "text")) var prefix: String?
    @Flag(help: "All of the namespace.") var all = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        let forms = (keys.isEmpty ? 0 : 1) + (collection == nil ? 0 : 1) + (all ? 1 : 0)
        guard forms == 1 else { throw ValidationError("one of these: keys, --collection, --all") }
        guard prefix == nil || collection != nil else { throw ValidationError("--prefix goes with --collection") }
    }

    func run() async throws {
        let scopes: [InvalidationScope] =
            if let collection { [.collection(collection, prefix: prefix ?? "")] } else if all { [.everything] } else {
                keys.map { .key($0) }
            }
        let remote = try options.remote()
        let request = InvalidationRequest(scopes: scopes)
        let reply = try await remote.reply(
            .post, remote.namespace.invalidationsPath, fields: [.contentType: Content.json], body: request.json)
        guard !output.json else { return StandardStream.output.printJSON(reply.body) }
        StandardStream.output.printLine("invalidated at revision \(try Self.revision(of: reply.body))")
    }

    private static func revision(of json: [UInt8]) throws(WireError) -> Int64 {
        var reader = JSONReader(json)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            if name == "revision" { return try reader.integer() }
            try reader.skip()
        }
        throw .unexpectedJSON("the server's answer lacks 'revision'")
    }
}
