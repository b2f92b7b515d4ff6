internal import FreshetTrust
package import FreshetWire

extension ChangeFeed {
    /// Applies a commit, or several. `changes` and `batches`, the revisions of atomic batches, are in revision order;
    /// `position` is the namespace's position after them, in the feed's epoch. All changes after the head are among
    /// them, but for those that a later one replaces.
    ///
    /// Wakes the groups that want one of the changes and no other. O(changes · groups found), not O(waiters). Makes
    /// pages up to ``FeedLimits/commitBytes``, and finds groups up to ``FeedLimits/commitMatches``: a reader beyond that is
    /// sent back to its position.
    /// Ignores a commit at or before the head.
    package mutating func commit(
        _ changes: [Change], batches: [ClosedRange<Revision>] = [], at position: Cursor
    ) -> [FeedDelivery<Waiter>] {
        guard position.epoch == head.epoch, position.revision > head.revision else { return [] }
        let before = head
        pages.dropLatest()
        var batches = batches[...]
        for change in changes where change.revision > before.revision {
            while let batch = batches.first, batch.upperBound < change.revision { batches.removeFirst() }
            let batch = batches.first.flatMap { $0.contains(change.revision) ? $0 : nil }
            recent.append(change, firstOfBatch: batch?.lowerBound)
        }
        head = position
        var room = limits.commitBytes
        let deliveries = wake(after: before, &room) + wakeGroupsAhead(within: room)
        recent.trim()
        return deliveries
    }

    /// Begins a new history. Every waiter has to start again, except those that await a position of that history.
    ///
    /// - Parameter lineage: how the history began, if it is known.
    package mutating func reset(to position: Cursor, _ lineage: Lineage? = nil) -> [FeedDelivery<Waiter>] {
        if position.epoch != head.epoch { previousEpoch = head.epoch }
        let old = head
        head = position
        pages = RecentPages()
        recent = RecentChanges(floor: position.revision, limits: limits)
        var deliveries: [FeedDelivery<Waiter>] = []
        for group in groups.numbers {
            guard let present = groups[group], present.target?.epoch != position.epoch else { continue }
            let waiters = take(group)
            guard !waiters.isEmpty else { continue }
            var problem = Self.epochChanged(old, position)
            // They have had everything up to there that they wanted.
            let known = (present.target ?? old).issued(to: present.subscription.part)
            problem.continuation = lineage?.continuation(of: known, in: position.epoch)
            deliveries.append(end(waiters, present.subscription, .gone(problem, position)))
        }
        return deliveries + wakeGroupsAhead(within: limits.commitBytes)
    }

    /// Ends every wait: polls get the position, streams are closed. From now on no reader waits.
    package mutating func drain() -> [FeedDelivery<Waiter>] {
        isDraining = true
        return releaseWaiters()
    }

    /// Ends every wait: polls get the position, streams are closed. Readers may ask again.
    package mutating func releaseWaiters() -> [FeedDelivery<Waiter>] { endAll { .idle($0) } }

    /// Ends every wait: polls are refused with the problem, streams are closed.
    package mutating func refuseWaiters(_ problem: Problem) -> [FeedDelivery<Waiter>] { endAll { .gone(problem, $0) } }

    /// Ends every wait with the reply for its position.
    private mutating func endAll(_ reply: (Cursor) -> PollResult) -> [FeedDelivery<Waiter>] {
        groups.numbers.compactMap { group in
            guard let present = groups[group] else { return nil }
            let waiters = take(group)
            return waiters.isEmpty ? nil : end(waiters, present.subscription, reply(present.target ?? head))
        }
    }

    /// Ends the waits of the waiters that `condition` names: polls are refused, streams are closed. O(waiters).
    package mutating func end(where condition: (Waiter) -> Bool) -> [FeedDelivery<Waiter>] {
        groups.numbers.compactMap { group in
            guard let present = groups[group] else { return nil }
            let ended = present.members.filter { slot in waiters.waiter(at: slot).map(condition) ?? false }
            let removed = ended.compactMap { remove($0, from: group) }
            return removed.isEmpty ? nil : end(removed, present.subscription, .ended)
        }
    }

    /// Drops the recent changes. From then on the store answers for positions before the head.
    package mutating func dropRecent() {
        recent = RecentChanges(floor: head.revision, limits: limits)
        pages = RecentPages()
        for group in groups.numbers { groups[group]?.noMatchAfter = head.revision }
    }

    /// Answers the waiters whose deadline has passed that nothing happened, and keeps streams alive.
    package mutating func expire(now: Int64) -> [FeedDelivery<Waiter>] {
        clock = max(clock, now)
        pages.expire(now: now)
        groups.dropEmpty(now: now)
        var idle: [Waiter] = []
        var deliveries: [FeedDelivery<Waiter>] = []
        for slot in waiters.takeDue(now: now) {
            let group = waiters.group(at: slot)
            let target = groups[group]?.target
            let isStream = groups[group]?.subscription.delivery == .stream
            // Before the removal, which may end the group.
            let part = groups[group]?.subscription.part
            guard let waiter = remove(slot, from: group) else { continue }
            guard !isStream else {
                deliveries.append(.resume([waiter], (target ?? head).issued(to: part)))
                continue
            }
            // A waiter that knows a later position must not be sent back to the head.
            guard target != nil || part != nil else {
                idle.append(waiter)
                continue
            }
            deliveries.append(.response([waiter], .idle((target ?? head).issued(to: part))))
        }
        if !idle.isEmpty { deliveries.append(.response(idle, .idle(head))) }
        if now >= nextKeepAlive ?? now {
            if nextKeepAlive != nil {
                let streams = groups.numbers.compactMap { groups[$0] }.filter { $0.target == nil && $0.subscription.delivery == .stream }
                let open = streams.filter { $0.subscription.part == nil }.flatMap { members(of: $0) }
                if !open.isEmpty { deliveries.append(.keepAlive(open, head)) }
                for group in streams where group.subscription.part != nil && !group.members.isEmpty {
                    deliveries.append(.keepAlive(members(of: group), head.issued(to: group.subscription.part)))
                }
            }
            nextKeepAlive = now + Self.keepAliveInterval
        }
        return deliveries
    }

    /// - Parameter room: how many bytes of pages may still be made. A subscription can differ from others in its limit
    ///   alone, so the readers of one address could each demand a copy of an atomic batch.
    private mutating func wake(after before: Cursor, _ room: inout Int) -> [FeedDelivery<Waiter>] {
        guard !groups.isEmpty else { return [] }
        let places = recent.places(after: before.revision)
        var (woken, matches): ([Int32], Int) = ([], 0)
        for place in places {
            guard let scope = recent.scope(at: place) else { continue }
            for group in groups.matching(scope) {
                let part = groups[group]?.subscription.part
                matches += 1 + (part?.matchCost(of: scope) ?? 0)
                guard matches <= limits.commitMatches else { return sendBack(groupsNear(places), to: before) }
                // The index has the filter that covers a part, and the part may have gaps.
                if let part, !part.matches(scope) { continue }
                guard let last = groups[group]?.wanted.last else {
                    groups[group]?.wanted = [place]
                    woken.append(group)
                    continue
                }
                // An invalidation of many records finds a group with several collections more than once.
                if last != place { groups[group]?.wanted.append(place) }
            }
        }
        // A page that many readers share comes first, and one for readers that may come back last. By number where they are
        // as many: the index has the order of a dictionary, which varies.
        let order = woken.map { (members: groups[$0]?.members.count ?? 0, group: $0) }.sorted {
            ($1.members, $0.group) < ($0.members, $1.group)
        }
        var kept = 0
        return order.compactMap { _, group in
            guard let present = groups[group] else { return nil }
            groups[group]?.wanted = []
            groups[group]?.noMatchAfter = head.revision
            // A page for absent readers is worth making only if it is kept.
            if present.members.isEmpty, kept >= RecentPages.capacity || room <= 0 { return nil }
            guard room > 0 else { return sendBack(take(group), present.subscription, to: before) }
            let page = page(of: present.wanted, present.subscription)
            room -= page.body.count
            if present.members.isEmpty, page.body.count > RecentPages.largest { kept = RecentPages.capacity }
            if present.subscription.delivery == .response, kept < RecentPages.capacity {
                kept += 1
                pages.keep(page, present.subscription, from: present.noMatchAfter, to: before.revision, now: clock)
            }
            return present.members.isEmpty ? nil : deliver(page, to: group, present)
        }
    }

    /// The groups that a commit may concern, by the collections of its changes alone: all, if these are too many too.
    private func groupsNear(_ places: Range<Int>) -> [Int32] {
        var (names, found, matches): (Set<String>, Set<Int32>, Int) = ([], [], 0)
        for place in places {
            guard let name = recent.scope(at: place)?.place.collection, names.insert(name).inserted else { continue }
            let matching = groups.matching(name.isEmpty ? .everything : .collection(name, prefix: ""))
            matches += matching.count
            guard matches <= limits.commitMatches else { return groups.numbers }
            found.formUnion(matching)
        }
        return found.sorted()
    }

    /// Lets the readers of groups ask again from the position before a commit that is not compared with each of them.
    private mutating func sendBack(_ concerned: [Int32], to before: Cursor) -> [FeedDelivery<Waiter>] {
        concerned.compactMap { group in
            guard let present = groups[group], present.target == nil else { return nil }
            groups[group]?.wanted = []
            groups[group]?.noMatchAfter = head.revision
            guard !present.members.isEmpty else { return nil }
            let waiters = present.subscription.delivery == .stream ? take(group) : takeMembers(of: group)
            return sendBack(waiters, present.subscription, to: before)
        }
    }

    /// Lets readers ask again from a position after which there are changes that they want: polls get the position, and
    /// streams continue by reads.
    private func sendBack(_ waiters: [Waiter], _ subscription: Subscription, to position: Cursor) -> FeedDelivery<Waiter> {
        let position = position.issued(to: subscription.part)
        return subscription.delivery == .stream ? .resume(waiters, position) : .response(waiters, .idle(position))
    }

    /// Asks again for the waiters that knew a later position than the feed, once the head has reached it.
    ///
    /// - Parameter room: how many bytes of pages may still be made.
    mutating func wakeGroupsAhead(within room: Int) -> [FeedDelivery<Waiter>] {
        var room = room
        var deliveries: [FeedDelivery<Waiter>] = []
        for group in groups.ahead {
            guard let present = groups[group], let target = present.target,
                target.epoch == head.epoch, target.revision <= head.revision
            else { continue }
            // Such a group has one member, which keeps its deadline.
            if target.revision < recent.floor {
                // A reset has passed over the waiter's position: the reader asks again, and the store answers.
                deliveries.append(end(take(group), present.subscription, .idle(target)))
                continue
            }
            let wanted = wanted(after: target.revision, upTo: head.revision, present.subscription)
            if wanted.isEmpty {
                join(group)
            } else if room <= 0 {
                deliveries.append(sendBack(take(group), present.subscription, to: target))
            } else {
                let page = page(of: wanted, present.subscription)
                room -= page.body.count
                deliveries.append(deliver(page, to: group, present))
                if present.subscription.delivery == .stream { join(group) }
            }
        }
        return deliveries
    }

    private mutating func deliver(_ page: FeedPage, to group: Int32, _ present: GroupTable.Group) -> FeedDelivery<Waiter> {
        guard present.subscription.delivery == .stream else {
            return .response(present.target == nil ? takeMembers(of: group) : take(group), .page(page))
        }
        return .push(page.keepsStreams ? members(of: present) : take(group), page)
    }

    func end(_ waiters: [Waiter], _ subscription: Subscription, _ reply: PollResult) -> FeedDelivery<Waiter> {
        if subscription.delivery == .stream { return .close(waiters) }
        guard case .idle(let position) = reply else { return .response(waiters, reply) }
        return .response(waiters, .idle(position.issued(to: subscription.part)))
    }
}
