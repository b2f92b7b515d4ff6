/// The events of a run, for people: lanes, messages, writes, faults and the entries of each cache, over virtual time.
///
/// All times are milliseconds of virtual time from the run's beginning; lists are in the order of their times.
public struct Timeline: Hashable, Sendable {
    /// Who took part. The server is the first lane.
    public struct Lane: Hashable, Sendable {
        /// `server`, or the device's name.
        public var name: String
        /// Its properties, for example `follows everything, collections hot cold`.
        public var detail: String

        /// A lane.
        public init(name: String, detail: String) {
            self.name = name
            self.detail = detail
        }
    }

    /// A message from one lane to another.
    public struct Message: Hashable, Sendable {
        /// How it ended.
        public enum Delivery: String, Hashable, Sendable {
            /// It arrived.
            case arrived
            /// It was lost on its way.
            case lost
            /// It arrived when no request waited for it any more.
            case ignored
            /// It never left its sender: there was no connection, or the receiver's host refused one. ``Message/outcome`` says which.
            case refused
            /// Something between the two ended it, for example a proxy that answered for the receiver. ``Message/outcome`` says what.
            case intercepted
            /// It was under way when the run ended.
            case underWay
        }

        /// The lane that sent it.
        public var from: Int
        /// The lane that it was sent to.
        public var to: Int
        /// When it left.
        public var sent: Int64
        /// When it arrived, or was lost, refused or intercepted.
        public var ended: Int64
        /// How it ended.
        public var delivery: Delivery
        /// For example `GET changes since @17, wait 25 s` or `200: 3 changes up to @20`.
        public var label: String
        /// The complete position that ``label`` shortens, for example `a-17`; empty where it names none.
        public var cursor: String
        /// Its outcome, where ``delivery`` does not state it, for example `connection refused`; empty otherwise.
        public var outcome: String
        /// Whether it is a poll that brought nothing, or the response that said so. A report hides those until they are asked for.
        public var isIdle: Bool

        /// A message.
        public init(
            from: Int, to: Int, sent: Int64, ended: Int64, delivery: Delivery, label: String, cursor: String = "", outcome: String = "",
            isIdle: Bool = false
        ) {
            self.from = from
            self.to = to
            self.sent = sent
            self.ended = ended
            self.delivery = delivery
            self.label = label
            self.cursor = cursor
            self.outcome = outcome
            self.isIdle = isIdle
        }
    }

    /// A device's own write, from `set` to its end.
    public struct Write: Hashable, Sendable {
        /// How far it has come.
        public enum Stage: String, Hashable, Sendable {
            /// On the device's disk, and shown.
            case pending
            /// The server has applied it; the device knows.
            case acknowledged
            /// It is part of the record that the device holds.
            case confirmed
            /// The server has refused it.
            case rejected
            /// The device shows what was there before again, after a rejection.
            case rolledBack
            /// It was forgotten, since the device was cleared.
            case cleared
        }

        /// A stage and when it began.
        public struct Step: Hashable, Sendable {
            /// When.
            public var time: Int64
            /// Which.
            public var stage: Stage

            /// A step.
            public init(time: Int64, stage: Stage) {
                self.time = time
                self.stage = stage
            }
        }

        /// The device's lane.
        public var lane: Int
        /// The record, as `collection/id`.
        public var key: String
        /// For example `put {"v":7}`.
        public var label: String
        /// Its stages; the first is `pending`.
        public var steps: [Step]

        /// A write.
        public init(lane: Int, key: String, label: String, steps: [Step]) {
            self.lane = lane
            self.key = key
            self.label = label
            self.steps = steps
        }
    }

    /// A time during which something was wrong.
    public struct Fault: Hashable, Sendable {
        /// The lanes that suffered it.
        public var lanes: [Int]
        /// When it began.
        public var from: Int64
        /// When it ended; the same as ``from`` for a fault of a moment.
        public var to: Int64
        /// For example `partition A` or `crash server`.
        public var label: String

        /// A fault.
        public init(lanes: [Int], from: Int64, to: Int64, label: String) {
            self.lanes = lanes
            self.from = from
            self.to = to
            self.label = label
        }
    }

    /// Something that happened to one lane at one moment: a start, a status, a reset, a user's call.
    public struct Mark: Hashable, Sendable {
        /// The lane.
        public var lane: Int
        /// When.
        public var time: Int64
        /// What, for example `live`, `reset`, `reads customers/7`.
        public var label: String

        /// A mark.
        public init(lane: Int, time: Int64, label: String) {
            self.lane = lane
            self.time = time
            self.label = label
        }
    }

    /// From this moment on, a cache (or the server's store) holds this for a key; what a slider shows.
    public struct Holding: Hashable, Sendable {
        /// The lane.
        public var lane: Int
        /// When it began to hold it.
        public var time: Int64
        /// The record; empty for the lane's cursor, which ``value`` then is, with its epoch: `a-17`.
        public var key: String
        /// The value as text; `nil` where the key is not held any more.
        public var value: String?
        /// For example `revision 17, pending, live`.
        public var detail: String

        /// A holding.
        public init(lane: Int, time: Int64, key: String, value: String?, detail: String) {
            self.lane = lane
            self.time = time
            self.key = key
            self.value = value
            self.detail = detail
        }
    }

    /// Where a rule was broken.
    public struct Violation: Hashable, Sendable {
        /// The lane that broke it.
        public var lane: Int
        /// When.
        public var time: Int64
        /// The rule, for example `2 never back`.
        public var rule: String
        /// The observed state or value, and the expected one.
        public var text: String

        /// A violation.
        public init(lane: Int, time: Int64, rule: String, text: String) {
            self.lane = lane
            self.time = time
            self.rule = rule
            self.text = text
        }
    }

    /// What the run was, for the head of the page.
    public var title: String
    /// How to run it again: a command line.
    public var command: String
    /// The scenario as text; empty where there is none.
    public var scenario: String
    /// The virtual time at which the run ended.
    public var end: Int64
    /// The server, then the devices.
    public var lanes: [Lane]
    /// The requests and responses.
    public var messages: [Message] = []
    /// The devices' writes.
    public var writes: [Write] = []
    /// What went wrong, by plan.
    public var faults: [Fault] = []
    /// Moments.
    public var marks: [Mark] = []
    /// The entries of the caches.
    public var holdings: [Holding] = []
    /// The rule that was broken, if one was.
    public var violation: Violation?

    /// A timeline without events.
    public init(title: String, command: String = "", scenario: String = "", end: Int64 = 0, lanes: [Lane] = []) {
        self.title = title
        self.command = command
        self.scenario = scenario
        self.end = end
        self.lanes = lanes
    }
}
