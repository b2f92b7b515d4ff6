import ArgumentParser
import FreshetServer

#if PostgreSQL
import FreshetPostgreSQLStore
#endif

/// `freshet store …`: a store in PostgreSQL.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Make, check and count a store in PostgreSQL.",
        discussion: """
            The URI is postgres://USER@HOST:PORT/DATABASE. What it leaves out comes from PGHOST, PGUSER, PGPASSWORD and so on, and
            from ~/.pgpass. A password in it is seen by everyone who can list the machine's processes.

            EXAMPLES
              freshet store init postgres://freshet@db.example/freshet
              freshet store check postgres://freshet@db.example/freshet
              freshet store status postgres://freshet@db.example/freshet
              freshet serve --store postgres://freshet@db.example/freshet
            """,
        subcommands: [StoreInit.self, StoreCheck.self, StoreStatus.self])
}

/// The store that a command is about.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store: postgres://USER@HOST:PORT/DATABASE.") var uri: String
}

struct StoreInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the schema, or bring it up to date.",
        discussion: """
            'freshet serve --store' does the same. Doing it beforehand lets the server run as a role that may not create a schema.

            EXAMPLES
              freshet store init postgres://freshet@db.example/freshet
            """)

    @OptionGroup var store: StoreArgument

    func run() throws {
        let location = try StoreLocation(store.uri)
        #if PostgreSQL
        let store = try location.open()
        let found = try location.inspect()
        StandardStream.output.printLine("\(store.label) is ready: store \(store.identifier), schema \(found.schema)")
        #else
        _ = location
        #endif
    }
}

struct StoreCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check that a server could use the database; change nothing.",
        discussion: """
            Checks that it can be reached, is no standby, stores text as UTF-8, keeps commits over a crash, and has no newer schema.

            EXAMPLES
              freshet store check postgres://freshet@db.example/freshet
            """)

    @OptionGroup var store: StoreArgument

    func run() throws {
        let location = try StoreLocation(store.uri)
        #if PostgreSQL
        let found = try location.inspect()
        let schema =
            switch found.schema {
            case 0: "no schema yet: 'freshet store init' makes it"
            case found.latestSchema: "schema \(found.schema)"
            default: "schema \(found.schema), which 'freshet store init' brings to \(found.latestSchema)"
            }
        let version = "\(found.serverVersion / 10_000).\(found.serverVersion % 10_000)"
        StandardStream.output.printLine(
            "\(found.label) can be used: PostgreSQL \(version), \(found.isEncrypted ? "with" : "without") TLS, \(schema)")
        #else
        _ = location
        #endif
    }
}

struct StoreStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Count what the store holds; change nothing.",
        discussion: """
            EXAMPLES
              freshet store status postgres://freshet@db.example/freshet
            """)

    @OptionGroup var store: StoreArgument

    func run() throws {
        let location = try StoreLocation(store.uri)
        #if PostgreSQL
        let totals = try location.totals()
        let counts = totals.counts
        for (name, value) in [
            ("namespaces", totals.namespaces), ("records", totals.records), ("bytes", totals.bytes), ("tombstones", counts.tombstones),
            ("invalidations", counts.invalidations), ("clients", counts.clients), ("outcomes", counts.outcomes),
        ] {
            StandardStream.output.printLine("\(name) \(value)")
        }
        #else
        _ = location
        #endif
    }
}
