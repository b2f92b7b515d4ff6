extension JSONDocument {
    /// This value with `amount` added at `pointer`. A missing member counts as 0 and is made, objects on the way too. The recursion goes as
    /// deep as the pointer has steps, and those are at most ``JSONPointer/maximumSteps``.
    /// - Throws: ``WireError/unexpectedJSON(_:)`` where something that is no number, or no object, stands there.
    package func incrementing(_ pointer: JSONPointer, by amount: JSONNumber) throws(WireError) -> JSONDocument {
        try adding(amount, at: pointer.steps[...], of: pointer)
    }

    private func adding(_ amount: JSONNumber, at steps: ArraySlice<String>, of pointer: JSONPointer) throws(WireError) -> JSONDocument {
        guard let step = steps.first else { return try sum(with: amount, at: pointer) }
        switch self {
        case .object(var members):
            if let place = members.firstIndex(where: { ByteIdentity.areEqual($0.name, step) }) {
                members[place].value = try members[place].value.adding(amount, at: steps.dropFirst(), of: pointer)
            } else {
                members.append(Member(name: step, value: try Self.missing(amount, at: steps.dropFirst(), of: pointer)))
            }
            return .object(members)
        case .array(var elements):
            guard let index = Int(step), String(index) == step, elements.indices.contains(index) else {
                throw .unexpectedJSON("the array at '\(step.shortened)' of '\(pointer.description.shortened)' has no such element")
            }
            elements[index] = try elements[index].adding(amount, at: steps.dropFirst(), of: pointer)
            return .array(elements)
        default:
            throw .unexpectedJSON(
                "nothing can be counted at '\(pointer.description.shortened)': what stands before '\(step.shortened)' is neither an object nor an array"
            )
        }
    }

    private static func missing(_ amount: JSONNumber, at steps: ArraySlice<String>, of pointer: JSONPointer) throws(WireError)
        -> JSONDocument
    {
        steps.isEmpty ? .number(amount.description) : try JSONDocument.object([]).adding(amount, at: steps, of: pointer)
    }

    private func sum(with amount: JSONNumber, at pointer: JSONPointer) throws(WireError) -> JSONDocument {
        guard case .number(let literal) = self, let old = JSONNumber(literal: literal) else {
            throw .unexpectedJSON("the value at '\(pointer.description.shortened)' is no number, so nothing can be added to it")
        }
        guard let sum = old.adding(amount) else {
            throw .unexpectedJSON("the sum at '\(pointer.description.shortened)' is beyond the range of numbers")
        }
        return .number(sum.description)
    }

    /// What an increment makes of a record that does not exist.
    package static func incrementingNothing(_ pointer: JSONPointer, by amount: JSONNumber) throws(WireError) -> JSONDocument {
        try missing(amount, at: pointer.steps[...], of: pointer)
    }
}
