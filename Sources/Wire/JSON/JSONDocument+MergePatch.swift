internal import FreshetPlatform

extension JSONDocument {
    /// This value with `patch` merged into it, by RFC 7396: `null` removes a member, objects merge, anything else replaces.
    ///
    /// O(n + m) in the sizes of the two on average. The recursion goes as deep as the patch, at most ``JSONReader/maximumDepth`` levels.
    package func merging(_ patch: JSONDocument) -> JSONDocument {
        guard case .object(let changes) = patch else { return patch }
        let own: [Member] = if case .object(let members) = self { members } else { [] }
        var places: [ByteIdentity.Name: Int] = [:]
        for (place, member) in own.enumerated() { places[ByteIdentity.Name(text: member.name)] = place }
        // A removed member leaves a gap, so that the places of the others stay.
        var members: [Member?] = own
        for change in changes {
            let name = ByteIdentity.Name(text: change.name)
            guard let place = places[name] else {
                guard change.value != .null else { continue }
                places[name] = members.count
                members.append(Member(name: change.name, value: JSONDocument.null.merging(change.value)))
                continue
            }
            if change.value == .null {
                members[place] = nil
                places[name] = nil
            } else {
                let old = members[place]?.value ?? .null
                members[place]?.value = old.merging(change.value)
            }
        }
        return .object(members.compactMap { $0 })
    }
}
