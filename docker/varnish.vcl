# Varnish in front of Freshet: one request to the server answers all readers that wait at one position. docs/operating/shared-caches.md says when that is
# worth it. The server runs with --edge '*', and so everybody who reaches Varnish may read: with keys, use edge-cache-keys.conf.
vcl 4.1;

backend freshet {
    .host = "freshet";
    .port = "8180";
    .connect_timeout = 2s;
    # Longer than a poll waits (60 seconds at most), and than the pause between the comments of a stream (15 seconds).
    .first_byte_timeout = 90s;
    .between_bytes_timeout = 90s;
}

sub vcl_recv {
    # A poll that waits, spelled as the protocol says. Everything else depends on its moment, or on its client alone.
    if (req.method == "GET" && req.http.Accept !~ "(?i)text/event-stream" && !req.http.Authorization
        && req.url ~ "^/v1/[^/?]+/changes\?since=[0-9a-z]+-[0-9a-z.-]+&wait=[1-9][0-9]*&limit=[0-9]+(&|$)" && req.url !~ "[?&]client=") {
        return (hash);
    }
    return (pass);
}

sub vcl_hash {
    hash_data(req.url);
    # Responses to web pages have further fields.
    hash_data(req.http.Origin);
    return (lookup);
}

sub vcl_backend_response {
    # Nothing is given out after its second has passed: a reader would take it for the present state.
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    if (beresp.http.Cache-Control !~ "(?i)public") {
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
    } elsif (beresp.status == 503) {
        # Varnish keeps no 503 by itself: then all who wait would ask a server in trouble, one after another.
        set beresp.ttl = 1s;
    }
    return (deliver);
}
