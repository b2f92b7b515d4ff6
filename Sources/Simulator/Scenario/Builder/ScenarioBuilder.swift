import FreshetWire

extension Scenario {
    /// A scenario in Swift, which reads like its text.
    ///
    /// ```swift
    /// let a = Scenario.Device("A"), b = Scenario.Device("B", following: .everything)
    /// let server = Scenario.server
    /// let scenario = try Scenario {
    ///     a
    ///     b
    ///     a.puts("customers/7", ["name": "Ada"])
    ///     b.partition(for: .seconds(300))
    ///     Wait(.seconds(1))
    ///     a.increments("counters/1", "/n", by: 3)
    ///     server.crash(for: .seconds(2))
    ///     Settle()
    ///     Expect(b.sees("customers/7", ["name": "Ada"]))
    ///     Expect(b.is(.live))
    /// }
    /// ```
    ///
    /// A device stands alone to say that it takes part from the beginning, or is there once something names it; the order is that of these
    /// mentions. `if`, `for` and optionals work as everywhere in Swift.
    /// - Throws: ``ScenarioError/invalid(line:_:)`` for keys, numbers and times that cannot be, and for two devices of one name. The line
    ///   is that of the Swift file.
    public init(
        seed: UInt64? = nil, isServerSmall: Bool = false, hasWideDelays: Bool = false,
        @ScenarioBuilder _ statements: () -> [ScenarioStatement]
    ) throws(ScenarioError) {
        self.init(seed: seed, isServerSmall: isServerSmall, hasWideDelays: hasWideDelays)
        var delay: Int64 = 0
        for statement in statements() {
            do throws(ScenarioError) {
                var cast = ScenarioDevices(devices: devices)
                let meaning = try statement.meaning(&cast)
                devices = cast.devices
                switch meaning {
                case .device: break
                case .wait(let time): delay = try (delay + time).within(ScenarioEvent.untilUndone)
                case .incident(let event):
                    add(event, after: delay)
                    delay = 0
                }
            } catch {
                guard case .invalid(_, let text) = error else { throw error }
                throw .invalid(line: statement.line.map { Int($0) }, text)
            }
        }
        guard delay == 0 else { throw .invalid(line: nil, "nothing comes after 'Wait': add 'Settle()' or an expectation") }
        try check()
    }

    /// The server, and the backend whose records it has.
    public static var server: Server { Server() }

    /// The actions of the backend, and the faults of the server.
    public struct Server: Hashable, Sendable {}
}

/// A line of a scenario in Swift: made by the methods of ``Scenario/Device`` and ``Scenario/Server``, and by ``Wait``,
/// ``Settle`` and ``Expect``.
public struct ScenarioStatement: Sendable {
    enum Meaning {
        case device
        case wait(Int64)
        case incident(ScenarioEvent)
    }

    /// In the Swift file.
    let line: UInt?
    let meaning: @Sendable (inout ScenarioDevices) throws(ScenarioError) -> Meaning

    init(_ line: UInt?, _ meaning: @escaping @Sendable (inout ScenarioDevices) throws(ScenarioError) -> Meaning) {
        self.line = line
        self.meaning = meaning
    }

    /// A statement about one device.
    init(
        _ line: UInt, _ device: Scenario.Device, _ event: @escaping @Sendable (Int) throws(ScenarioError) -> ScenarioEvent
    ) {
        self.init(line) { cast throws(ScenarioError) in .incident(try event(try cast.number(of: device))) }
    }
}

/// The devices that a scenario has named so far.
struct ScenarioDevices {
    var devices: [Scenario.Device]

    /// The device's number; it joins the cast if it is new.
    mutating func number(of device: Scenario.Device) throws(ScenarioError) -> Int {
        if let number = devices.firstIndex(where: { $0.name == device.name }) {
            guard devices[number] == device else {
                throw .invalid(line: nil, "there is another device named \(device.name); make it once and use it everywhere")
            }
            return number
        }
        try device.check()
        devices.append(device)
        return devices.count - 1
    }
}

/// A part of a scenario in Swift.
public protocol ScenarioPart {
    /// What it says.
    var statement: ScenarioStatement { get }
}

extension ScenarioStatement: ScenarioPart {
    /// Itself.
    public var statement: ScenarioStatement { self }
}

extension Scenario.Device: ScenarioPart {
    /// It takes part.
    public var statement: ScenarioStatement {
        ScenarioStatement(nil) { cast throws(ScenarioError) in
            _ = try cast.number(of: self)
            return .device
        }
    }
}

/// Collects the parts of a scenario; see ``Scenario/init(seed:isServerSmall:hasWideDelays:_:)``.
@resultBuilder
public enum ScenarioBuilder {
    /// A part.
    public static func buildExpression(_ part: some ScenarioPart) -> [ScenarioStatement] { [part.statement] }
    /// One after the other.
    public static func buildBlock(_ parts: [ScenarioStatement]...) -> [ScenarioStatement] { parts.flatMap { $0 } }
    /// A loop's.
    public static func buildArray(_ parts: [[ScenarioStatement]]) -> [ScenarioStatement] { parts.flatMap { $0 } }
    /// Those of an `if` without `else`.
    public static func buildOptional(_ part: [ScenarioStatement]?) -> [ScenarioStatement] { part ?? [] }
    /// Those of an `if`.
    public static func buildEither(first: [ScenarioStatement]) -> [ScenarioStatement] { first }
    /// Those of an `else`.
    public static func buildEither(second: [ScenarioStatement]) -> [ScenarioStatement] { second }
}

/// Lets time pass before the next statement.
public struct Wait: ScenarioPart, Sendable {
    /// What it says.
    public let statement: ScenarioStatement

    /// - Parameter time: within 0 and a hundred years; parts of a millisecond do not count.
    public init(_ time: Duration, line: UInt = #line) {
        statement = ScenarioStatement(line) { _ throws(ScenarioError) in .wait(try time.milliseconds()) }
    }
}

/// Waits until all is quiet: every device is live and has all that the server has, and no write waits for its verdict.
public struct Settle: ScenarioPart, Sendable {
    /// What it says.
    public let statement: ScenarioStatement

    /// Waits at most ten minutes; a longer wait is a violation.
    public init(line: UInt = #line) { statement = ScenarioStatement(line) { _ throws(ScenarioError) in .incident(.settle) } }
}

/// Ends all faults: links heal, disks work, and processes that are dead or asleep start. The end of a scenario implies it.
public struct HealEverything: ScenarioPart, Sendable {
    /// What it says.
    public let statement: ScenarioStatement

    /// At this moment.
    public init(line: UInt = #line) { statement = ScenarioStatement(line) { _ throws(ScenarioError) in .incident(.healAll) } }
}

/// Checks a claim at this moment.
public struct Expect: ScenarioPart, Sendable {
    /// What it says.
    public let statement: ScenarioStatement

    /// - Parameter claim: for example `b.sees("customers/7", ["name": "Ada"])`.
    public init(_ claim: ScenarioClaim, line: UInt = #line) {
        statement = ScenarioStatement(line) { cast throws(ScenarioError) in .incident(.expect(try claim.meaning(&cast))) }
    }
}

/// A claim for ``Expect``.
public struct ScenarioClaim: Sendable {
    let meaning: @Sendable (inout ScenarioDevices) throws(ScenarioError) -> Expectation
}

extension Duration {
    /// Whole milliseconds, within 0 and a hundred years.
    func milliseconds() throws(ScenarioError) -> Int64 {
        guard self >= .zero, self < .seconds(ScenarioEvent.untilUndone / 1_000 + 1) else {
            throw .invalid(line: nil, "a time of \(self) does not fit: times are within 0 and a hundred years")
        }
        let (seconds, attoseconds) = components
        return try (seconds * 1_000 + attoseconds / 1_000_000_000_000_000).within(ScenarioEvent.untilUndone)
    }

    /// The same of a time that may be left out: until something undoes it.
    static func milliseconds(_ time: Duration?) throws(ScenarioError) -> Int64 { try time?.milliseconds() ?? ScenarioEvent.untilUndone }
}

extension Int64 {
    fileprivate func within(_ limit: Int64) throws(ScenarioError) -> Int64 {
        guard self <= limit else { throw .invalid(line: nil, "that makes more than a hundred years in all, the longest there is") }
        return self
    }
}

extension RecordKey {
    static func check(_ collection: String) throws(ScenarioError) {
        do { try check(collection: collection) } catch { throw .invalid(line: nil, error.description) }
    }

    static func of(_ text: String) throws(ScenarioError) -> RecordKey {
        do { return try RecordKey(text) } catch { throw .invalid(line: nil, error.description) }
    }
}
