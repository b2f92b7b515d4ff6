internal import FreshetPlatform

extension JSONDocument {
    /// This value with the increment's amount added at its path. A missing member counts as 0 and is made, objects on the way too. The
    /// recursion goes as deep as the pointer has steps, and those are at most ``JSONPointer/maximumSteps``.
    func incrementing(_ increment: Increment) throws(IncrementFailure) -> JSONDocument {
        try adding(increment, at: increment.path.steps[...])
    }

    private func adding(_ increment: Increment, at steps: ArraySlice<String>) throws(IncrementFailure) -> JSONDocument {
        guard let step = steps.first else { return try sum(with: increment) }
        switch self {
        case .object(var members):
            if let place = members.firstIndex(where: { ByteIdentity.areEqual($0.name, step) }) {
                members[place].value = try members[place].value.adding(increment, at: steps.dropFirst())
            } else {
                members.append(Member(name: step, value: try Self.missing(increment, at: steps.dropFirst())))
            }
            return .object(members)
        case .array(var elements):
            guard let index = Int(step), String(index) == step, elements.indices.contains(index) else {
                throw .unfit("the array at '\(step.shortened)' of '\(increment.path.description.shortened)' has no such element")
            }
            elements[index] = try elements[index].adding(increment, at: steps.dropFirst())
            return .array(elements)
        default:
            throw .unfit(
                "nothing can be counted at '\(increment.path.description.shortened)': the value before '\(step.shortened)' is neither an object nor an array"
            )
        }
    }

    private static func missing(_ increment: Increment, at steps: ArraySlice<String>) throws(IncrementFailure) -> JSONDocument {
        guard steps.isEmpty else { return try JSONDocument.object([]).adding(increment, at: steps) }
        return .number(try increment.checked(increment.amount).description)
    }

    private func sum(with increment: Increment) throws(IncrementFailure) -> JSONDocument {
        guard case .number(let literal) = self else {
            throw .unfit("the value at '\(increment.path.description.shortened)' is no number, so nothing can be added to it")
        }
        return .number(try increment.checked(JSONNumber(literal: literal)?.adding(increment.amount)).description)
    }

    /// Applies an increment to a record that does not exist, from 0.
    static func incrementingNothing(_ increment: Increment) throws(IncrementFailure) -> JSONDocument {
        try missing(increment, at: increment.path.steps[...])
    }
}
