/// Something that is so until a time, in milliseconds of virtual time.
struct Lasting<Condition> {
    private let condition: Condition
    private let end: Int64

    init(_ condition: Condition, until end: Int64) {
        self.condition = condition
        self.end = end
    }

    /// What is so now; `nil` once it is over.
    func present(at now: Int64) -> Condition? { now < end ? condition : nil }
}
