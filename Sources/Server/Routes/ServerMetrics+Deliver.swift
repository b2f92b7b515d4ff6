import HTTPTypes
import SocketHTTP

/// Who waits at a feed of this server.
enum FeedReader: Sendable {
    case poll(Exchange)
    case stream(EventStream)
}

extension ServerMetrics {
    /// Carries out what the feed decided, and counts it.
    func deliver(_ delivery: FeedDelivery<FeedReader>) {
        switch delivery {
        case .answer(let readers, let reply):
            let response = Response(reply)
            switch reply {
            case .page: feed.woken.add(readers.count)
            case .idle: feed.expired.add(readers.count)
            case .gone: feed.gone.add(readers.count)
            }
            countResponse(.getChanges, status: response.status.code, times: readers.count)
            Exchange.respond(to: readers.compactMap(\.exchange), with: EncodedResponse(response))
        case .push(let readers, let page):
            let streams = readers.compactMap(\.stream)
            ResponseStream.broadcast(to: streams.map(\.stream), EventStream.encode(page))
            if !page.upToDate { for stream in streams { stream.goOn(after: page.cursor) } }
        case .keepAlive(let readers, let cursor):
            ResponseStream.broadcast(to: readers.compactMap { $0.stream?.stream }, EventStream.keepAlive(at: cursor))
        case .close(let readers):
            for reader in readers { reader.stream?.stream.finish() }
        }
    }
}

extension FeedReader {
    fileprivate var exchange: Exchange? {
        if case .poll(let exchange) = self { exchange } else { nil }
    }

    fileprivate var stream: EventStream? {
        if case .stream(let stream) = self { stream } else { nil }
    }
}
