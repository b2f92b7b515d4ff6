/// A condition that holds until a time, in milliseconds of virtual time.
struct TimedCondition<Condition> {
    private let condition: Condition
    private let end: Int64

    init(_ condition: Condition, until end: Int64) {
        self.condition = condition
        self.end = end
    }

    /// The condition at `now`; `nil` once it has ended.
    func present(at now: Int64) -> Condition? { now < end ? condition : nil }
}
