internal import CCurl
internal import HTTPTypes

/// One request on its way, from ``CurlLoop/begin(_:)`` to its completion; touched by the curl thread alone.
///
/// libcurl's callbacks get it as an unretained pointer. That pointer is valid whenever they run: the loop's table of
/// transfers holds the object from before the handle is added to the multi handle until after it is removed from it, and
/// libcurl calls back only from within `curl_multi_` functions and only for handles that are in the multi handle.
final class Transfer {
    typealias Completion = @Sendable (Result<HTTPReply, TransportError>) -> Void

    /// Far above what any server needs, so that a hostile one cannot fill the memory with fields.
    static let maximumHeaderSize = 256 << 10

    let id: UInt64
    let request: HTTPRequestDescription
    let completion: Completion
    let easy: EasyHandle
    /// The request's fields as libcurl wants them; libcurl does not copy the list, so it lives as long as the transfer.
    var fieldList: UnsafeMutablePointer<curl_slist>?

    /// What the request goes through.
    var proxy: ProxyRule.Proxy?

    private var fields: HTTPFields = [:]
    private var headerSize = 0
    /// Whether the header has ended: libcurl hands over what comes after the content likewise.
    private var isHeaderComplete = false
    private var body: [UInt8] = []
    /// Why a callback refused to go on, which libcurl itself can only call a write error.
    private var refusal: TransportError?

    init(id: UInt64, request: HTTPRequestDescription, easy: EasyHandle, completion: @escaping Completion) {
        self.id = id
        self.request = request
        self.easy = easy
        self.completion = completion
    }

    deinit { curl_slist_free_all(fieldList) }

    /// The outcome, once libcurl is done with it.
    func outcome(_ code: CURLcode) -> Result<HTTPReply, TransportError> {
        if let refusal { return .failure(refusal) }
        guard code == CURLE_OK else {
            return .failure(
                TransportError(code, text: easy.errorText(for: code), limit: request.maximumResponseSize, proxy: proxy?.description))
        }
        return .success(HTTPReply(status: easy.responseCode, fields: fields, body: body, proxy: proxy?.description))
    }

    /// - Returns: whether to go on.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= request.maximumResponseSize else {
            refusal = .tooLarge(limit: request.maximumResponseSize)
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Takes one line of the header, its line end included. After a `100 Continue` comes another status line.
    /// - Returns: whether to go on.
    func receive(header line: UnsafeRawBufferPointer) -> Bool {
        headerSize += line.count
        guard headerSize <= Self.maximumHeaderSize else {
            refusal = .malformedResponse("its header has more than \(Self.maximumHeaderSize) bytes")
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            fields = [:]
            isHeaderComplete = false
            body.removeAll(keepingCapacity: true)
            return true
        }
        // Trailers say nothing that the header may (RFC 9110 §6.5.1).
        guard !isHeaderComplete else { return true }
        if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            isHeaderComplete = true
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { return true }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        // An empty value says something too: an empty `Expires` is a date that is invalid. Bytes stay as they are (RFC 9110 §5.5).
        let end = value.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? value.startIndex
        fields.append(HTTPField(name: name, value: value[..<end]))
        return true
    }
}
