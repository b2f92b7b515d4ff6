import ArgumentParser
import FreshetSimulator

struct Worlds: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take small worlds through every order of events, and check each state.",
        discussion: """
            A small world is a server, one or two devices and a few records. Every order of writes, reads, exchanges with the server,
            crashes, clears, faults and epochs is tried up to a bound, each state once. After each step a second, naive implementation
            recomputes from the server's full history what the device must hold and show. The first violation has the fewest events; it
            is printed with the steps that lead to it.

            EXAMPLES
              freshet worlds --events 5 --choices 5
              freshet worlds --events 8 --choices 3
              freshet worlds --world clears --events 4 --choices 4 --bug storeAfterClear

            EXIT STATUS
              0 if no rule was broken, 1 if one was.
            """)

    @Option(help: "The most events of a path.") var events = 5
    @Option(help: "The most of them that are no exchanges with the server.") var choices = 3
    @Option(
        help: ArgumentHelp(
            "Only this world: \(SmallCatalog.worlds.map(\.name).joined(separator: ", ")).", valueName: "name"),
        completion: .list(SmallCatalog.worlds.map(\.name)))
    var world: String?
    @Option(help: ArgumentHelp("One in so many states is taken to rest: all faults end there.", valueName: "count"))
    var restInterval = 97
    @Option(help: ArgumentHelp("The most states of a world. (default: no bound)", valueName: "count")) var states: Int?
    @Option(
        help: ArgumentHelp(
            "Break a rule's implementation on purpose: \(SmallBug.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name")) var bug: SmallBug?

    func validate() throws {
        guard events >= 0, choices >= 0 else { throw ValidationError("--events and --choices take whole numbers from 0") }
        guard restInterval > 0 else { throw ValidationError("--rest-interval takes a whole number from 1, not \(restInterval)") }
        if let states, states < 1 { throw ValidationError("--states takes a whole number from 1, not \(states)") }
        if let world, !SmallCatalog.worlds.contains(where: { $0.name == world }) {
            throw ValidationError("no world is called '\(world)'")
        }
    }

    func run() throws {
        var isBroken = false
        for setup in SmallCatalog.worlds where world == nil || setup.name == world {
            let start = ContinuousClock.now
            var search = SmallSearch(
                bug.map(setup.broken(by:)) ?? setup, events: events, choices: choices, restInterval: restInterval,
                stateLimit: states ?? .max)
            let outcome = try search.run()
            let seconds = (((ContinuousClock.now - start) / .seconds(1)) * 10).rounded() / 10
            StandardStream.output.printLine(
                "\(setup.name): \(outcome.states) states, \(outcome.transitions) transitions, \(outcome.settled) taken to rest, "
                    + "\(outcome.depth) events, \(seconds) s\(outcome.isCutShort ? ", cut short" : "")")
            guard let violation = outcome.violation else { continue }
            isBroken = true
            StandardStream.output.printLine(violation.text)
        }
        if isBroken { throw CommandFailure(.notFound, "a rule was broken") }
    }
}

extension SmallBug: ExpressibleByArgument {}
