import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// Carries out the deliveries of the feeds, and counts them. Thread-safe.
struct FeedSender: Sendable {
    let metrics: ServerMetrics
    /// Each response states which store it is from.
    let store: StoreIdentifier
    let edge: EdgeReplies

    /// Called under the delivery lock of a feed; does not block.
    func deliver(_ delivery: FeedDelivery<FeedReader>) {
        switch delivery {
        case .response(let readers, let reply):
            switch reply {
            case .page: metrics.feed.woken.add(readers.count)
            case .idle: metrics.feed.expired.add(readers.count)
            case .gone, .ended: metrics.feed.gone.add(readers.count)
            }
            for (readers, response) in edge.responses(to: readers, reply) {
                let response = response.marked(with: store)
                metrics.countResponse(.getChanges, status: response.status.code, times: readers.count)
                Exchange.respond(to: readers.compactMap(\.exchange), with: EncodedResponse(response))
            }
        case .push(let readers, let page):
            let streams = readers.compactMap(\.stream)
            ResponseStream.broadcast(to: streams.map(\.stream), EventStream.encode(page))
            if !page.keepsStreams { for stream in streams { stream.goOn(after: page.cursor) } }
        case .keepAlive(let readers, let cursor):
            ResponseStream.broadcast(to: readers.compactMap { $0.stream?.stream }, EventStream.keepAlive(at: cursor))
        case .resume(let readers, let cursor):
            for reader in readers { reader.stream?.goOn(after: cursor) }
        case .close(let readers):
            for reader in readers { reader.stream?.stream.finish() }
        }
    }
}
