package import FreshetWire

extension ChangeFeed {
    /// Applies a commit. `changes` and `batches`, the revisions of its atomic batches, are in revision order;
    /// `position` is the namespace's position after the commit.
    ///
    /// Wakes the groups that want one of the changes and no other. O(changes · groups found), not O(waiters).
    /// Ignores a commit at or before the head; a commit of another epoch begins a new history.
    package mutating func commit(
        _ changes: [Change], batches: [ClosedRange<Revision>] = [], at position: Cursor
    ) -> [FeedDelivery<Waiter>] {
        guard position.epoch == head.epoch else {
            let base = changes.first.flatMap { Revision($0.revision.number - 1) } ?? position.revision
            return reset(to: Cursor(epoch: position.epoch, revision: base))
                + commit(changes, batches: batches, at: position)
        }
        guard position.revision > head.revision else { return [] }
        let before = head.revision
        latestPage = nil
        var batches = batches[...]
        for change in changes where change.revision > before {
            while let batch = batches.first, batch.upperBound < change.revision { batches.removeFirst() }
            let batch = batches.first.flatMap { $0.contains(change.revision) ? $0 : nil }
            recent.append(change, firstOfBatch: batch?.lowerBound)
        }
        head = position
        let deliveries = wake(after: before) + settle()
        recent.trim()
        return deliveries
    }

    /// Begins a new history. Every waiter has to start again, except those that await a position of that history.
    package mutating func reset(to position: Cursor) -> [FeedDelivery<Waiter>] {
        if position.epoch != head.epoch { previousEpoch = head.epoch }
        let old = head
        head = position
        latestPage = nil
        told.removeAll()
        recent = RecentChanges(floor: position.revision, limits: limits)
        let problem = Self.epochChanged(old, position)
        var deliveries: [FeedDelivery<Waiter>] = []
        for group in groups.indices.map(Int32.init) {
            guard let present = groups[Int(group)], present.awaited?.epoch != position.epoch else { continue }
            let waiters = take(group)
            if !waiters.isEmpty { deliveries.append(end(waiters, present.subscription, .gone(problem, position))) }
        }
        return deliveries + settle()
    }

    /// Ends every wait: polls get the position, streams are closed. From now on no reader waits.
    package mutating func drain() -> [FeedDelivery<Waiter>] {
        isDraining = true
        return letGo()
    }

    /// Ends every wait: polls get the position, streams are closed. Readers may ask again.
    package mutating func letGo() -> [FeedDelivery<Waiter>] {
        groups.indices.map(Int32.init).compactMap { group in
            guard let present = groups[Int(group)] else { return nil }
            let waiters = take(group)
            return waiters.isEmpty ? nil : end(waiters, present.subscription, .idle(present.awaited ?? head))
        }
    }

    /// Drops the recent changes. From then on the store answers for positions before the head.
    package mutating func forgetRecent() {
        recent = RecentChanges(floor: head.revision, limits: limits)
        latestPage = nil
        told.removeAll()
        for group in groups.indices { groups[group]?.clearSince = head.revision }
    }

    /// Answers the waiters whose deadline has passed that nothing happened, and keeps streams alive.
    package mutating func expire(now: Int64) -> [FeedDelivery<Waiter>] {
        latestPage = nil
        clock = max(clock, now)
        told.expire(now: now)
        dropDeserted(now: now)
        var idle: [Waiter] = []
        var deliveries: [FeedDelivery<Waiter>] = []
        for slot in waiters.takeDue(now: now) {
            let group = waiters.group(at: slot)
            let awaited = groups[Int(group)]?.awaited
            guard let waiter = remove(slot, from: group) else { continue }
            // A waiter that knows a later position must not be sent back to the head.
            if let awaited { deliveries.append(.answer([waiter], .idle(awaited))) } else { idle.append(waiter) }
        }
        if !idle.isEmpty { deliveries.append(.answer(idle, .idle(head))) }
        if now >= nextKeepAlive ?? now {
            if nextKeepAlive != nil {
                let streams = groups.flatMap { group -> [Waiter] in
                    guard let group, group.awaited == nil, group.subscription.delivery == .stream else { return [] }
                    return members(of: group)
                }
                if !streams.isEmpty { deliveries.append(.keepAlive(streams, head)) }
            }
            nextKeepAlive = now + Self.keepAliveInterval
        }
        return deliveries
    }

    private mutating func wake(after revision: Revision) -> [FeedDelivery<Waiter>] {
        guard !groupBySubscription.isEmpty else { return [] }
        var woken: [Int32] = []
        for place in recent.places(after: revision) {
            guard let scope = recent.scope(at: place) else { continue }
            for group in index.groups(matching: scope) {
                guard let last = groups[Int(group)]?.wanted.last else {
                    groups[Int(group)]?.wanted = [place]
                    woken.append(group)
                    continue
                }
                // A sweep finds a group with several collections more than once.
                if last != place { groups[Int(group)]?.wanted.append(place) }
            }
        }
        // The index has the order of a dictionary, which varies; the order by group number does not.
        return woken.sorted().compactMap { group in
            guard let present = groups[Int(group)] else { return nil }
            groups[Int(group)]?.wanted = []
            let page = page(of: present.wanted, present.subscription)
            if present.subscription.delivery == .answer {
                told.keep(page, present.subscription, from: present.clearSince, to: revision, now: clock)
            }
            groups[Int(group)]?.clearSince = head.revision
            return present.members.isEmpty ? nil : deliver(page, to: group, present)
        }
    }

    /// Asks again for the waiters that knew a later position than the feed, once the head has reached it.
    private mutating func settle() -> [FeedDelivery<Waiter>] {
        var deliveries: [FeedDelivery<Waiter>] = []
        for group in early {
            guard let present = groups[Int(group)], let awaited = present.awaited,
                awaited.epoch == head.epoch, awaited.revision <= head.revision
            else { continue }
            // Such a group has one member, which keeps its deadline.
            if awaited.revision < recent.floor {
                // A reset has passed over the waiter's position: the reader asks again, and the store answers.
                deliveries.append(end(take(group), present.subscription, .idle(awaited)))
                continue
            }
            let wanted = wanted(after: awaited.revision, upTo: head.revision, present.subscription.filter)
            if wanted.isEmpty {
                join(group)
            } else {
                let page = page(of: wanted, present.subscription)
                deliveries.append(deliver(page, to: group, present))
                if present.subscription.delivery == .stream { join(group) }
            }
        }
        return deliveries
    }

    private mutating func deliver(_ page: FeedPage, to group: Int32, _ present: Group) -> FeedDelivery<Waiter> {
        guard present.subscription.delivery == .stream else {
            return .answer(present.awaited == nil ? takeMembers(of: group) : take(group), .page(page))
        }
        return .push(page.keepsStreams ? members(of: present) : take(group), page)
    }

    func end(_ waiters: [Waiter], _ subscription: Subscription, _ reply: FeedReply) -> FeedDelivery<Waiter> {
        subscription.delivery == .stream ? .close(waiters) : .answer(waiters, reply)
    }
}
