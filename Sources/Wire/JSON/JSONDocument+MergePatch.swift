extension JSONDocument {
    /// This value with `patch` merged into it, by RFC 7396: `null` removes a member, objects merge, anything else replaces.
    package func merging(_ patch: JSONDocument) -> JSONDocument {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = if case .object(let own) = self { own } else { [] }
        for change in changes {
            let place = members.firstIndex { ByteIdentity.areEqual($0.name, change.name) }
            switch (change.value, place) {
            case (.null, let place?): members.remove(at: place)
            case (.null, nil): break
            case (let value, let place?): members[place].value = members[place].value.merging(value)
            case (let value, nil): members.append(Member(name: change.name, value: JSONDocument.null.merging(value)))
            }
        }
        return .object(members)
    }
}
