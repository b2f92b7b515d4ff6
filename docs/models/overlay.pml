/*
 * A model of two rules of Freshet for SPIN: the overlay (rule 7) and exactly-once (rule 5). docs/simulator.md lists
 * the rules. `scripts/check-model` verifies it. docs/models/README.md says what it covers, and what it does not.
 *
 * One device D, one server, one record R, any number of other writers. D creates the writes 1, 2, 3 ... to R. The
 * value of R is modelled as the set of D's writes that it contains, and a number for what the others wrote. So a
 * write that is counted twice or lost is visible as a bit.
 *
 * Assumptions
 *  A1  The server is one serial process. A transaction is atomic. A response's records and its `last` are of one
 *      snapshot.
 *  A2  D's disk loses no transaction that it has acknowledged, and D stores a write before it sends it. Each step of
 *      D is one transaction. A crash between a response and its transaction is the loss of the response.
 *  A3  Nobody else uses D's client name. D stores the next number, so a crash does not change it.
 *  A4  Each epoch is used once. A restore brings an earlier state of the server and a new epoch; a drop, the empty
 *      state.
 *  A5  D matches responses to requests, and ignores a response to a request that it has given up. D has one request
 *      of each kind (feed, read, sender) in flight. A response is delayed for any time, or lost. A batch can arrive
 *      at any time later, after it has been repeated, after other batches, and in another epoch. One delayed batch is
 *      in the network at a time.
 *  A6  The feed holds the latest change of R. D follows everything, and a page holds all changes.
 *  A7  Requests that do not change the server (polls, reads, questions for `last`) are not delayed beyond their time
 *      limit: D would ignore their responses (A5).
 *  A8  Whether a write applies, has no effect or is rejected is arbitrary. That includes preconditions, missing
 *      records and operations that do not fit the value.
 *
 * Bounds: WRITES (1 to 3), FOREIGN (0 to 3), EPOCHS (1 to 3), BACKUPS.
 * Options: READS (users read at any time; otherwise D reads only what it must know), PUTS (own puts besides
 *   increments), MERGES (a rejected write may wait for its merge, and goes on as a new write), LEFTOUT (a page may
 *   leave the value out, or hold an invalidation; D may evict R), AGED (the server may have forgotten an outcome),
 *   LIVENESS (see the end).
 * Mutations, each of which must be refuted: UNDERSTATE, OVERSTATE, SHARED_ACCEPT, NO_EPOCH, REUSE, NO_RESUME, OLDER,
 *   EARLY_LEAVE, MERGING_ALWAYS, MERGING_UNSTATED.
 */

#ifndef WRITES
#define WRITES 2        /* writes of D */
#endif
#ifndef FOREIGN
#define FOREIGN 1       /* writes of others */
#endif
#ifndef EPOCHS
#define EPOCHS 2        /* histories; one more than the restores and drops */
#endif
#ifndef BACKUPS
#define BACKUPS 1       /* a restore without a backup is a drop */
#endif

#define BIT(n)  (1 << (n))
#define NONE    7     /* no number is stated */

/* ---------------------------------------------------------------------------------------------------------- server */

unsigned sEp : 2 = 1;           /* the epoch */
unsigned sHead : 3;             /* the last revision of the namespace */
unsigned sRec : 3;              /* the revision of R; 0 where there is no record */
unsigned sBits : 4;             /* the writes of D that the value contains */
unsigned sFor : 2;              /* what others wrote: the number of the last of their writes in the value */
unsigned sAuthor : 2;           /* the number of D's write that is R's last change; 0 where another wrote it */
unsigned sLast : 2;             /* the number of D's last decided write */

/* What each history has decided, as sets of numbers. Those of the current epoch are the server's outcomes. Those of
   earlier epochs are kept only for the assertions. A number that is decided and in no other set had no effect. */
byte decided[EPOCHS + 1];
byte applied[EPOCHS + 1];
byte rejected[EPOCHS + 1];
byte skipped[EPOCHS + 1];       /* left out by `resume` */

unsigned backups : 2;           /* how many were made */
unsigned kHead : 3, kRec : 3, kBits : 4, kFor : 2, kAuthor : 2, kLast : 2;
unsigned kDecided : 4, kApplied : 4, kRejected : 4, kSkipped : 4;

unsigned foreign : 2;           /* how many writes the others have made */

#ifdef PUTS
unsigned puts : 4;              /* the writes of D that are puts; the others are increments */
byte sRevs[WRITES + 1]; /* the revision of each applied write, in the current epoch */
byte kRevs[WRITES + 1];
#define IS_PUT(n) (puts & BIT(n))
#else
#define IS_PUT(n) 0
#endif

#ifdef REUSE
/* Which use of the number was decided in each history, and the latest use at the device. */
byte usedBy[(EPOCHS + 1) * (WRITES + 1)];
byte kUsedBy[WRITES + 1];
byte use[WRITES + 1];
#define REUSED(n) (use[n] > 0)  /* the sets hold numbers, so they do not tell the uses apart */
#else
#define REUSED(n) 0
#endif

/* ------------------------------------------------------------------------------------------------- device, on disk */

#define ABSENT   0      /* not written yet */
#define PENDING  1
#define APPLIED  2      /* in rowEp */
#define SETTLED  3      /* in rowEp */
#define MERGING  4
#define LEFT     5      /* left the outbox: applied or settled in rowEp, and the record contains the outcome */
#define ROLLED   6      /* left the outbox: rejected in rowEp */

byte row[WRITES + 1];
byte rowEp[WRITES + 1];
unsigned next : 3 = 1;          /* the number of the next write */

bit  bKnown;            /* whether the base is known; else bEp and bRev are what D showed last, for assertion (d) */
unsigned bEp : 2, bRev : 3, bAsOf : 3;  /* its epoch, its revision, and the position through which it is right */
unsigned bLag : 2;              /* the verification passes since the base was confirmed; 2 stands for more */
unsigned bBits : 4, bFor : 2;       /* the base's value */
unsigned bApplied : 4;  /* only for assertions: the writes that had taken effect in its history at its revision */

unsigned wEp : 2, wNum : 3;         /* the watermark; wEp is 0 where there is none */

unsigned dEp : 2;               /* the epoch that D follows; 0 before the first contact */
bit  hasCursor;         /* 0 before the first page and after a reset: the pass from the start is not over */
unsigned cursor : 3;
bit  mustReconcile;

/* ----------------------------------------------------------------------------------------------- device, in memory */

unsigned sentThrough : 3;       /* writes up to this number may have been sent */
unsigned resumesAfter : 3 = NONE;
bit  sawGap;
bit  caughtUp;

/* ------------------------------------------------------------------------- requests in flight, and their responses */

#define IDLE     0
#define ASKED    1
#define ANSWERED 2

unsigned feed : 2;
bit  fWaits, fNamed;    /* the request: a poll that waits; a request that names the client */
unsigned fEp : 2, fHead : 3, fRec : 3, fBits : 4, fFor : 2, fAuthor : 2, fApplied : 4, fNum : 3;

unsigned read : 2;
bit  gNamed;
unsigned gFloor : 3;            /* no older response is accepted */
unsigned gEp : 2, gHead : 3, gRec : 3, gBits : 4, gFor : 2, gApplied : 4, gNum : 3;

#define DECIDED  1
#define GAP      2
#define REFUSED  3      /* the server has another epoch */
#define STATUS   4

unsigned sender : 3;
unsigned mFirst : 2, mLast : 2;     /* the batch */
bit  mResume;
unsigned rEp : 2, rRec : 3, rBits : 4, rFor : 2, rApplied : 4, rNum : 3;

unsigned zEp : 2, zFirst : 2, zLast : 2;        /* a copy of a batch in the network; zEp is 0 where there is none */
bit  zResume;

bit  calm;              /* no fault and no write begins any more */
bit  resting;            /* all has come to rest */

byte pick;              /* the outcomes of a batch, two bits for each number; 0 outside of one step */
hidden byte i, e, from, took, gap;
/* Names of the assertions; each is 0 and is part of its condition, so that SPIN's message tells it. */
hidden byte a_resume_skips_a_pending_write, a_decided_twice, a_decided_after_its_verdict, a_contained_already;
hidden byte b_shown_twice, b_omitted, c_verdict_is_wrong, c_left_too_early, d_revision_falls;
hidden byte e_rows_remain, e_view_differs, a3_number_unknown;

/* -------------------------------------------------------------------------------------------------------- the rule */

#define IN_OUTBOX(n)  (row[n] >= PENDING && row[n] <= MERGING)
#define HAS_VERDICT(n) (row[n] == APPLIED || row[n] == SETTLED)
#define UNFINISHED_IS_REPLAYED(n) (!bKnown || (n) > wNum)

/* A row that waits for its merge was rejected in rowEp: no record of that history contains it, but one of an
   earlier history may. MERGING_ALWAYS is the rule that replays it over any record. */
#ifdef MERGING_ALWAYS
#define MERGING_IS_REPLAYED(n) (row[n] == MERGING)
#else
#define MERGING_IS_REPLAYED(n) (row[n] == MERGING && (wEp == rowEp[n] || UNFINISHED_IS_REPLAYED(n)))
#endif

/* OutboxRow.standing: replayed; `current` is the device's epoch, or 0 where the view is made. */
#define REPLAYED(n, current) (IN_OUTBOX(n) && (wEp == 0 || MERGING_IS_REPLAYED(n) \
    || (row[n] == PENDING && UNFINISHED_IS_REPLAYED(n)) \
    || (HAS_VERDICT(n) && (rowEp[n] == wEp -> (n) > wNum : wEp != current && UNFINISHED_IS_REPLAYED(n)))))

/* OutboxRow.standing: finished. */
#ifdef EARLY_LEAVE
#define FINISHED(n, current) (HAS_VERDICT(n))
#else
#define FINISHED(n, current) (wEp != 0 && HAS_VERDICT(n) && (rowEp[n] == wEp -> (n) <= wNum : wEp == current))
#endif

/* PendingKey.needsWatermark, for one row. MERGING_UNSTATED asks for no number for a row that waits for its merge. */
#ifdef MERGING_UNSTATED
#define MAY_BE_CONTAINED(n) (HAS_VERDICT(n) || (row[n] == PENDING && (n) <= sentThrough))
#else
#define MAY_BE_CONTAINED(n) (IN_OUTBOX(n) && (row[n] != PENDING || (n) <= sentThrough))
#endif
#define ROW_NEEDS(n, epoch) (MAY_BE_CONTAINED(n) \
    && (wEp == 0 || wEp != (epoch) || (n) > wNum))
#if WRITES == 1
#define ANY(p, x) (p(1, x))
#define ANY_ROW   (IN_OUTBOX(1))
#define ANY_PENDING (row[1] == PENDING)
#define ANY_SETTLED (row[1] == SETTLED)
#elif WRITES == 2
#define ANY(p, x) (p(1, x) || p(2, x))
#define ANY_ROW   (IN_OUTBOX(1) || IN_OUTBOX(2))
#define ANY_PENDING (row[1] == PENDING || row[2] == PENDING)
#define ANY_SETTLED (row[1] == SETTLED || row[2] == SETTLED)
#else
#define ANY(p, x) (p(1, x) || p(2, x) || p(3, x))
#define ANY_ROW   (IN_OUTBOX(1) || IN_OUTBOX(2) || IN_OUTBOX(3))
#define ANY_PENDING (row[1] == PENDING || row[2] == PENDING || row[3] == PENDING)
#define ANY_SETTLED (row[1] == SETTLED || row[2] == SETTLED || row[3] == SETTLED)
#endif
/* Whether the stated number says something of the row while there is no watermark. */
#define CONTAINS_NEWS(n, number) (HAS_VERDICT(n) || (IN_OUTBOX(n) && (n) <= (number)))
#define NEEDS_WATERMARK(epoch) (ANY(ROW_NEEDS, epoch))

/* --------------------------------------------------------------------------------------------- steps of the server */

/* The number that a response states. */
#ifdef UNDERSTATE
#define STATED (sLast == 0 -> 0 : sLast - 1)
#endif
#ifdef OVERSTATE
#define STATED (sLast + 1)
#endif
#ifndef STATED
#define STATED sLast
#endif

#ifdef NO_EPOCH
#define COPY_IS_ACCEPTED 1
#else
#define COPY_IS_ACCEPTED (zEp == sEp)
#endif

/* Decides the batch `first` through `last`; `pick` holds the outcome of each number that is new. Sets `gap`. */
inline serve(first, last, resume) {
    gap = 0;
    if
    :: first > sLast + 1 && resume ->
        i = sLast + 1;
        do
        :: i < first ->
            /* (a) `resume` skips no write that waits for its verdict */
            assert(row[i] != PENDING || a_resume_skips_a_pending_write);
            skipped[sEp] = skipped[sEp] | BIT(i);
            decided[sEp] = decided[sEp] | BIT(i);
            i++
        :: else -> break
        od;
        sLast = first - 1
    :: first > sLast + 1 && !resume -> gap = 1
    :: else -> skip
    fi;
    i = first;
    do
    :: !gap && i <= last ->
        if
        :: i > sLast ->
            /* (a) at most once in this history, and not after the verdict of another history */
            assert(!(decided[sEp] & BIT(i)) || a_decided_twice);
            assert(row[i] == PENDING || a_decided_after_its_verdict);
            decided[sEp] = decided[sEp] | BIT(i);
            sLast = i;
#ifdef REUSE
            usedBy[sEp * (WRITES + 1) + i] = use[i];
#endif
            e = (pick >> (2 * (i - 1))) & 3;
            if
            :: e == 0 ->
                sHead++;
                sRec = sHead;
                sAuthor = i;
                applied[sEp] = applied[sEp] | BIT(i);
                if
                :: IS_PUT(i) ->
                    sBits = BIT(i);
                    sFor = 0
                :: else ->
                    assert(!(sBits & BIT(i)) || a_contained_already);
                    sBits = sBits | BIT(i)
                fi;
#ifdef PUTS
                sRevs[i] = sRec
#endif
            :: e == 1 -> rejected[sEp] = rejected[sEp] | BIT(i)
            :: else -> skip
            fi
        :: else -> skip
        fi;
        i++
    :: else -> break
    od
}

/* Chooses an outcome for each number. */
inline choose(first, last) {
    if
    :: pick = 0
    :: first == 1 && sLast < 1 -> pick = 1
    :: first == 1 && sLast < 1 -> pick = 2
    fi;
#if WRITES >= 2
    if
    :: skip
    :: first <= 2 && last >= 2 && sLast < 2 -> pick = pick | (1 << 2)
    :: first <= 2 && last >= 2 && sLast < 2 -> pick = pick | (2 << 2)
    fi;
#endif
#if WRITES >= 3
    if
    :: skip
    :: last == 3 && sLast < 3 -> pick = pick | (1 << 4)
    :: last == 3 && sLast < 3 -> pick = pick | (2 << 4)
    fi
#endif
}

/* The backup of the last history is never restored. */
inline forgetBackup() {
    if
    :: sEp == EPOCHS ->
        kHead = 0; kRec = 0; kBits = 0; kFor = 0; kAuthor = 0; kLast = 0;
        kDecided = 0; kApplied = 0; kRejected = 0; kSkipped = 0;
        backups = 0
    :: else -> skip
    fi
}

/* A copy that can have no effect any more leaves the network. */
inline dropCopy() {
#ifndef NO_EPOCH
    if
    :: zEp != sEp || zLast <= sLast -> clearCopy()
    :: else -> skip
    fi
#else
    skip
#endif
}

inline clearCopy() {
    zEp = 0; zFirst = 0; zLast = 0; zResume = 0
}

inline backUp() {
    backups++;
    kHead = sHead; kRec = sRec; kBits = sBits; kFor = sFor; kAuthor = sAuthor; kLast = sLast;
    kDecided = decided[sEp]; kApplied = applied[sEp]; kRejected = rejected[sEp]; kSkipped = skipped[sEp];
#ifdef PUTS
    for (i : 1 .. WRITES) { kRevs[i] = sRevs[i] }
#endif
#ifdef REUSE
    for (i : 1 .. WRITES) { kUsedBy[i] = usedBy[sEp * (WRITES + 1) + i] }
#endif
}

inline restore() {
    sEp++;
    sHead = kHead; sRec = kRec; sBits = kBits; sFor = kFor; sAuthor = kAuthor; sLast = kLast;
    decided[sEp] = kDecided; applied[sEp] = kApplied; rejected[sEp] = kRejected; skipped[sEp] = kSkipped;
#ifdef PUTS
    for (i : 1 .. WRITES) { sRevs[i] = kRevs[i] }
#endif
#ifdef REUSE
    for (i : 1 .. WRITES) { usedBy[sEp * (WRITES + 1) + i] = kUsedBy[i] }
#endif
}

inline drop() {
    sEp++;
    sHead = 0; sRec = 0; sBits = 0; sFor = 0; sAuthor = 0; sLast = 0
#ifdef PUTS
    ;
    for (i : 1 .. WRITES) { sRevs[i] = 0 }
#endif
}

/* --------------------------------------------------------------------------------------------- steps of the device */

/* PendingKey.raise. */
inline raise(epoch, number) {
    if
    :: !ANY_ROW -> skip
    :: ANY_ROW && wEp == 0 && !(ANY(CONTAINS_NEWS, number)) -> skip
    :: else ->
        if
        :: wEp == epoch && wNum >= number -> skip
        :: else ->
            wEp = epoch;
            wNum = number
        fi
    fi
}

/* EntryOperation.put: accepts the record as the base, if it supersedes the base (Entry.supersedes). Sets `took`. */
inline put(epoch, revision, asOf, lag, bits, others, effects) {
#ifdef OLDER
    took = 1;
#else
    took = !bKnown || (epoch == bEp
        -> (revision >= bRev && (lag < bLag || (lag == bLag && asOf >= bAsOf))) : lag < bLag);
#endif
    if
    :: took ->
        /* (d) the revision that D shows never falls in one epoch */
        assert(bEp != epoch || revision >= bRev || d_revision_falls);
        bKnown = 1; bEp = epoch; bRev = revision; bAsOf = asOf; bLag = lag;
        bBits = bits; bFor = others; bApplied = effects
    :: else -> skip
    fi
}

inline forgetBase() {
    bKnown = 0; bAsOf = 0; bLag = 0; bBits = 0; bFor = 0; bApplied = 0
}

/* The verdict on row n in this epoch. */
inline decide(n, epoch, verdict) {
    /* (c) a verdict is what that history decided */
    assert((decided[epoch] & BIT(n)) || c_verdict_is_wrong);
    assert(!(skipped[epoch] & BIT(n)) || c_verdict_is_wrong);
    assert(((verdict == ROLLED || verdict == MERGING) == ((rejected[epoch] & BIT(n)) != 0)) || c_verdict_is_wrong);
    assert(verdict != APPLIED || (applied[epoch] & BIT(n)) || c_verdict_is_wrong);
#ifdef REUSE
    assert(usedBy[epoch * (WRITES + 1) + n] == use[n] || c_verdict_is_wrong);
#endif
    row[n] = verdict;
    rowEp[n] = epoch
}

/* PendingKey.settle, and the end of the watermark with the last row. */
inline settle() {
    for (i : 1 .. WRITES) {
        if
        :: FINISHED(i, dEp) -> row[i] = LEFT
        :: else -> skip
        fi
    }
    if
    :: !ANY_ROW ->
        wEp = 0;
        wNum = 0
    :: else -> skip
    fi
}

/* After the faults the parts of the device take turns: each order is possible before. Not with LIVENESS. */
#ifdef LIVENESS
#define MAY_SEND 1
#define MAY_READ 1
#else
#define FEED_RESTS (feed == ASKED && fWaits && sHead == cursor && sEp == dEp)
#define MAY_SEND (!calm || (FEED_RESTS && read == IDLE))
#define MAY_READ (!calm || (FEED_RESTS && sender == IDLE && !ANY_PENDING && !mustReconcile && !sawGap))
#endif
#ifdef READS
#define USER_READS (!calm)
#else
#define USER_READS 0
#endif

inline clearFeed() {
    feed = IDLE; fWaits = 0; fNamed = 0;
    fEp = 0; fHead = 0; fRec = 0; fBits = 0; fFor = 0; fAuthor = 0; fApplied = 0; fNum = 0
}

inline clearRead() {
    read = IDLE; gNamed = 0; gFloor = 0;
    gEp = 0; gHead = 0; gRec = 0; gBits = 0; gFor = 0; gApplied = 0; gNum = 0
}

inline clearSender() {
    sender = IDLE; mFirst = 0; mLast = 0; mResume = 0;
    rEp = 0; rRec = 0; rBits = 0; rFor = 0; rApplied = 0; rNum = 0
}

/* The reset for another history. The base, the watermark and the outbox stay. */
inline reset(epoch) {
    dEp = epoch;
    hasCursor = 0;
    cursor = 0;
    caughtUp = 0;
    mustReconcile = 1;
    bLag = (bKnown && bLag < 2 -> bLag + 1 : bLag);
    clearFeed();
    clearRead();
    clearSender()
}

/* A page of the feed: PlanBuilder+Page. */
inline takePage() {
    e = fEp;
    if
    :: dEp != 0 && fEp != dEp -> reset(e)
#ifndef SHARED_ACCEPT
    /* hasWatermarks */
    :: ((dEp == 0 || fEp == dEp) && fNum == NONE && NEEDS_WATERMARK(fEp)
        && (!hasCursor || (fRec > cursor && fAuthor == 0))) ->
        caughtUp = 0;
        clearFeed()
#endif
    :: else ->
        from = (hasCursor -> cursor : 0);
        if
        :: !hasCursor ->
            /* begin: another pass, and reads in flight are asked again */
            dEp = fEp;
            bLag = (bKnown && bLag < 2 -> bLag + 1 : bLag);
            if
            :: read != IDLE ->
                gEp = 0; gHead = 0; gRec = 0; gBits = 0; gFor = 0; gApplied = 0; gNum = 0;
                gNamed = NEEDS_WATERMARK(fEp);
                gFloor = fHead;
                read = ASKED
            :: else -> skip
            fi
        :: else -> skip
        fi;
        if
        :: fRec > from ->
            gFloor = (read != IDLE && fRec > gFloor -> fRec : gFloor);
            if
            :: left ->
                /* the value was left out: EntryOperation.confirm, then evict */
                took = 0;
                if
                :: bKnown && bEp == fEp && bRev == fRec -> took = 1; bLag = 0
                :: else -> skip
                fi;
                if
                :: !bKnown -> took = 1
                :: bKnown && (bEp != fEp || bAsOf < fRec) -> took = 1; forgetBase()
                :: else -> skip
                fi
            :: else -> put(fEp, fRec, fRec, 0, fBits, fFor, fApplied)
            fi;
            if
            :: took && fNum != NONE -> raise(fEp, fNum)
            :: took && fNum == NONE && fAuthor != 0 -> raise(fEp, fAuthor)
            :: else -> skip
            fi;
            /* decideOwn */
            if
            :: fAuthor != 0 && row[fAuthor] == PENDING -> decide(fAuthor, fEp, APPLIED)
            :: else -> skip
            fi
        :: hasCursor && fRec <= from && left && bKnown && bAsOf < fHead ->
            /* an invalidation of more than one record says nothing of the writes in R */
            forgetBase()
        :: fRec <= from && !hasCursor && bKnown && bLag > 0 ->
            /* finishFromStart: the pass brought no record */
            if
            :: bEp == fEp && bAsOf >= fHead -> bLag = 0
            :: (bEp != fEp || bAsOf < fHead) && ANY_ROW ->
                put(fEp, fHead, fHead, 0, 0, 0, fApplied);
                if
                :: took && fNum != NONE -> raise(fEp, fNum)
                :: else -> skip
                fi
            :: else -> forgetBase()
            fi
        :: else -> skip
        fi;
        hasCursor = 1;
        cursor = fHead;
        caughtUp = 1;
        /* raiseAll */
        if
        :: fNum != NONE -> raise(fEp, fNum)
        :: else -> skip
        fi;
        settle();
        clearFeed()
    fi
}

/* The response to a read: PlanBuilder+Reading. */
inline takeRead() {
    e = gEp;
    if
    :: dEp != 0 && gEp != dEp -> reset(e)
    :: (dEp == 0 || gEp == dEp) && gNum == NONE && NEEDS_WATERMARK(dEp) ->
        /* a write has been sent since: the read is sent again, and asks for the number */
        gEp = 0; gHead = 0; gRec = 0; gBits = 0; gFor = 0; gApplied = 0; gNum = 0;
        gNamed = 1;
        read = ASKED
    :: else ->
        dEp = gEp;
        if
#ifndef OLDER
        :: gHead < gFloor -> skip
#endif
        :: else ->
            if
            :: gRec > 0 -> put(gEp, gRec, gHead, 0, gBits, gFor, gApplied)
            :: else -> put(gEp, gHead, gHead, 0, 0, 0, gApplied)
            fi;
            if
            :: took && gNum != NONE -> raise(gEp, gNum)
            :: else -> skip
            fi;
            settle()
        fi;
        clearRead()
    fi
}

/* Verdicts: PlanBuilder+Verdicts. `aged`: the outcomes are forgotten; `merge`: what is rejected is to be merged. */
inline takeResults() {
    e = rEp;
    if
    :: rEp != dEp -> reset(e)
    :: else ->
        for (i : mFirst .. mLast) {
            if
            :: row[i] == PENDING && (applied[rEp] & BIT(i)) && !aged ->
                decide(i, rEp, APPLIED);
#ifdef PUTS
                if
                :: read != IDLE && gFloor < sRevs[i] && sEp == rEp -> gFloor = sRevs[i]
                :: else -> skip
                fi;
                /* takeOwnEffect */
                if
                :: IS_PUT(i) && sEp == rEp && (bKnown || !hasCursor || sRevs[i] > cursor) ->
                    put(rEp, sRevs[i], sRevs[i], (hasCursor -> 0 : 1), BIT(i), 0, applied[rEp] & (BIT(i + 1) - 1));
                    if
                    :: took -> raise(rEp, i)
                    :: else -> skip
                    fi
                :: else -> skip
                fi
#endif
            :: row[i] == PENDING && (applied[rEp] & BIT(i)) && aged -> decide(i, rEp, SETTLED)
            :: row[i] == PENDING && (rejected[rEp] & BIT(i)) ->
                /* takeCurrent */
                if
                :: rRec > 0 && (bKnown || !hasCursor || rRec > cursor) ->
                    gFloor = (read != IDLE && rRec > gFloor -> rRec : gFloor);
                    put(rEp, rRec, rRec, (hasCursor -> 0 : 1), rBits, rFor, rApplied);
                    if
                    :: took -> raise(rEp, rNum)
                    :: else -> skip
                    fi
                :: else -> skip
                fi;
                if
                :: merge -> decide(i, rEp, MERGING)
                :: else -> decide(i, rEp, ROLLED)
                fi
            :: row[i] == PENDING && !((applied[rEp] | rejected[rEp]) & BIT(i)) -> decide(i, rEp, SETTLED)
            :: else -> skip
            fi
        }
        if
        :: resumesAfter != NONE && mLast > resumesAfter -> resumesAfter = NONE
        :: else -> skip
        fi;
        settle();
        clearSender()
    fi
}

/* The last number: what the device sends from there on. */
inline takeStatus() {
    e = rEp;
    if
    :: dEp != 0 && rEp != dEp -> reset(e)
    :: else ->
        dEp = rEp;
        mustReconcile = 0;
        sawGap = 0;
        resumesAfter = rNum;
#ifdef REUSE
        /* The error: the device numbers its next write by the server's last number and the rows that it still has. */
        next = rNum + 1;
        for (i : 1 .. WRITES) {
            if
            :: IN_OUTBOX(i) && i >= next -> next = i + 1
            :: else -> skip
            fi
        }
#else
        /* A3 */
        assert(rNum < next || a3_number_unknown);
#endif
        clearSender()
    fi
}

/* ------------------------------------------------------------------------------------------------------ assertions */

/* The assertions of every step of the device. */
inline endStep() {
    for (i : 1 .. WRITES) {
        /* (b) the view applies no row that the base contains */
        assert(!(bKnown && REPLAYED(i, 0) && (bApplied & BIT(i))) || REUSED(i) || b_shown_twice);
        /* (b) the view omits no row that the base's history has not decided, or whose effect the base lacks */
        assert(!(bKnown && IN_OUTBOX(i) && !REPLAYED(i, 0))
            || ((decided[bEp] & BIT(i)) && (!(applied[bEp] & BIT(i)) || (bApplied & BIT(i))))
            || REUSED(i) || b_omitted);
        /* (c) once a row has left, a base of its verdict's history reflects it */
        assert(!(bKnown && row[i] == LEFT && rowEp[i] == bEp && (applied[bEp] & BIT(i)))
            || (bApplied & BIT(i)) || REUSED(i) || c_left_too_early)
    }
    /* Normal forms, so that fewer states differ: outcomes of histories without a reference, and rows that left */
    for (i : 1 .. EPOCHS) {
        if
        :: i < sEp && bEp != i && wEp != i && dEp != i && fEp != i && gEp != i && rEp != i && zEp != i ->
            decided[i] = 0; applied[i] = 0; rejected[i] = 0; skipped[i] = 0
        :: else -> skip
        fi
    }
    for (i : 1 .. WRITES) {
        if
        :: row[i] == LEFT && rowEp[i] != bEp && rowEp[i] < sEp && bEp >= rowEp[i] -> row[i] = ROLLED; rowEp[i] = 0
        :: row[i] == ROLLED -> rowEp[i] = 0
        :: else -> skip
        fi
    }
    i = 0;  /* a d_step must not end with a loop */
    /* The next request of the feed. One that is sent later is the same as one that is lost and repeated. */
    if
    :: feed == IDLE ->
        fWaits = hasCursor && caughtUp;
        fNamed = !fWaits && NEEDS_WATERMARK(dEp);
        feed = ASKED
    :: else -> skip
    fi
}

/* ------------------------------------------------------------------------------------------------------ everything */

bit left, aged, merge;  /* what takePage and takeResults are to do; 0 outside of one step */

active proctype world() {
    do
    /* ---- users and other writers */
    :: d_step { !calm && next <= WRITES && row[next] != PENDING ->
#ifdef REUSE
        if
        :: row[next] != ABSENT -> use[next]++; rowEp[next] = 0
        :: else -> skip
        fi;
#endif
        row[next] = PENDING;
        printf("D: writes %d\n", next);
        next++;
        endStep()
       }
#ifdef PUTS
    :: d_step { !calm && next <= WRITES ->
        row[next] = PENDING;
        puts = puts | BIT(next);
        printf("D: writes %d, a put\n", next);
        next++;
        endStep()
       }
#endif
    :: d_step { !calm && foreign < FOREIGN ->         /* an increment */
        printf("other: increments R\n");
        foreign++; sHead++; sRec = sHead; sFor = foreign; sAuthor = 0
       }
    :: d_step { !calm && foreign < FOREIGN ->         /* a put */
        printf("other: puts R\n");
        foreign++; sHead++; sRec = sHead; sFor = foreign; sAuthor = 0; sBits = 0
       }
    :: d_step { !calm && foreign < FOREIGN ->         /* a write to another record */
        printf("other: writes another record\n");
        foreign++; sHead++
       }
    :: d_step { !calm && backups < BACKUPS && sEp < EPOCHS -> printf("server: backup\n"); backUp(); i = 0 }
    :: d_step { !calm && sEp < EPOCHS && backups > 0 ->
        printf("server: restore\n");
        restore(); forgetBackup(); dropCopy();
        i = 0
       }
    :: d_step { !calm && sEp < EPOCHS ->
        printf("server: drop\n");
        drop(); forgetBackup(); dropCopy();
        i = 0
       }

    /* ---- the feed */
    :: d_step { feed == ASKED && (!fWaits || sHead > cursor || sEp != dEp) ->
        fEp = sEp;
        if
        :: hasCursor && sEp != dEp -> skip      /* 410, without anything but the epoch */
        :: else ->
            fHead = sHead;
            if
            :: sRec > (hasCursor -> cursor : 0) ->
                fRec = sRec; fBits = sBits; fFor = sFor; fAuthor = sAuthor; fApplied = applied[sEp]
            :: else -> skip
            fi
        fi;
        fNum = (fNamed -> STATED : NONE);
        printf("server: page of epoch %d through %d, author %d, states %d (7: nothing)\n", fEp, fHead, fAuthor, fNum);
        feed = ANSWERED
       }
    :: d_step { feed == ANSWERED -> printf("D: takes the page\n"); takePage(); endStep() }
    :: d_step { !calm -> printf("network: the poll or its response is lost\n"); caughtUp = 0; clearFeed(); endStep() }
#ifdef LEFTOUT
    :: d_step { feed == ANSWERED && fAuthor == 0 ->
        printf("D: takes the page, in which the value is left out\n");
        left = 1; takePage(); left = 0;
        endStep()
       }
    :: d_step { !calm && bKnown && !ANY_ROW && hasCursor && bEp == dEp && bAsOf <= cursor ->
        printf("D: evicts R\n");
        forgetBase();
        endStep()
       }
#endif

    /* ---- reads */
    :: d_step { read == IDLE && MAY_READ && (USER_READS || ANY_SETTLED || (!bKnown && hasCursor)) ->
        gNamed = NEEDS_WATERMARK(dEp);
        gFloor = (hasCursor -> cursor : 0);
        if
        :: bKnown && bEp == dEp && bAsOf > gFloor -> gFloor = bAsOf
        :: else -> skip
        fi;
        printf("D: reads R, floor %d, named %d\n", gFloor, gNamed);
        read = ASKED
       }
    :: d_step { read == ASKED ->
        gEp = sEp; gHead = sHead; gRec = sRec; gBits = sBits; gFor = sFor; gApplied = applied[sEp];
        gNum = (gNamed -> STATED : NONE);
        printf("server: record of epoch %d at %d, states %d (7: nothing)\n", gEp, gHead, gNum);
        read = ANSWERED
       }
    :: d_step { read == ANSWERED -> printf("D: takes the record\n"); takeRead(); endStep() }
    :: d_step { read != IDLE && !calm -> printf("network: the read or its response is lost\n"); clearRead() }

    /* ---- writes: the whole queue, or only its first write. The batch arrives at once, or D gives it up and it arrives
       later. A batch that takes its time, and whose response arrives, is the same as one that is given up, arrives, and
       is repeated. */
    :: atomic { sender == IDLE && MAY_SEND && ANY_PENDING && dEp != 0 && !mustReconcile && !sawGap ->
        d_step {
            mFirst = 1;
            do
            :: row[mFirst] != PENDING -> mFirst++
            :: else -> break
            od;
            mLast = mFirst
        }
        if
        :: skip
        :: mLast < WRITES && row[mLast + 1] == PENDING ->
            do
            :: mLast < WRITES && row[mLast + 1] == PENDING -> mLast++
            :: else -> break
            od
        fi;
        skip;
        d_step {
            sentThrough = (mLast > sentThrough -> mLast : sentThrough);
#ifndef NO_RESUME
            mResume = resumesAfter != NONE && mFirst - 1 > resumesAfter
#endif
        }
        if
        :: !calm ->
            printf("D: sends %d to %d in epoch %d, resume %d: delayed\n", mFirst, mLast, dEp, mResume);
            zEp = dEp; zFirst = mFirst; zLast = mLast; zResume = mResume; mFirst = 0; mLast = 0; mResume = 0
        :: choose(mFirst, mLast);
            skip;
            d_step {
                rEp = sEp;
                printf("D: sends %d to %d in epoch %d, resume %d: arrives in epoch %d, outcomes %d\n",
                    mFirst, mLast, dEp, mResume, sEp, pick);
                if
#ifndef NO_EPOCH
                :: sEp != dEp -> mFirst = 0; mLast = 0; sender = REFUSED
#endif
                :: else ->
                    serve(mFirst, mLast, mResume);
                    if
                    :: gap -> mFirst = 0; mLast = 0; sender = GAP
                    :: else ->
                        rNum = STATED;
                        sender = DECIDED;
                        /* a rejection brings the record */
                        if
                        :: rejected[sEp] & (BIT(mLast + 1) - BIT(mFirst)) ->
                            rRec = sRec; rBits = sBits; rFor = sFor; rApplied = applied[sEp]
                        :: else -> skip
                        fi
                    fi
                fi;
                mResume = 0;
                dropCopy();
                pick = 0
            }
        fi
       }
    :: atomic { !calm && zEp != 0 && COPY_IS_ACCEPTED && zLast > sLast ->
        choose(zFirst, zLast);
        skip;
        d_step {
            printf("server: the delayed batch %d to %d arrives, outcomes %d\n", zFirst, zLast, pick);
            serve(zFirst, zLast, zResume);
            dropCopy();
            pick = 0
        }
       }
    :: d_step { zEp != 0 && !calm -> printf("network: the delayed batch is lost\n"); clearCopy() }
    :: d_step { sender == DECIDED ->
        printf("D: takes the verdicts of %d to %d\n", mFirst, mLast);
        takeResults();
        endStep()
       }
#ifdef AGED
    :: d_step { sender == DECIDED ->
        printf("D: takes the verdicts of %d to %d, all as settled\n", mFirst, mLast);
        aged = 1; takeResults(); aged = 0;
        endStep()
       }
#endif
#ifdef MERGES
    :: d_step { sender == DECIDED && (rejected[rEp] & decided[rEp]) ->
        printf("D: takes the verdicts of %d to %d; the rejected ones wait for their merge\n", mFirst, mLast);
        merge = 1; takeResults(); merge = 0;
        endStep()
       }
#endif
    :: d_step { sender == GAP ->
        printf("D: takes the refusal for a gap\n");
        e = rEp;
        if
        :: rEp != dEp -> reset(e)
        :: else ->
            sawGap = 1;
            clearSender()
        fi;
        endStep()
       }
    :: d_step { sender == REFUSED -> printf("D: takes the refusal for another epoch\n"); e = rEp; reset(e); endStep() }

    /* ---- the question for the last number; the response is in flight as long as `sender` is STATUS */
    :: d_step { sender == IDLE && MAY_SEND && (mustReconcile || sawGap || (dEp == 0 && ANY_PENDING)) ->
        rEp = sEp; rNum = sLast;
        printf("D: asks for the last number: %d in epoch %d\n", rNum, rEp);
        sender = STATUS
       }
    :: d_step { sender == STATUS -> printf("D: takes the last number\n"); takeStatus(); endStep() }
    :: d_step { sender != IDLE && !calm -> printf("network: the response to the sender is lost\n"); clearSender() }

#ifdef MERGES
    /* ---- the merge of a rejected write: it goes on as a new write, or the user gives it up */
    :: d_step { row[1] == MERGING && next <= WRITES && !calm ->
        printf("D: merges, and writes %d\n", next);
        row[1] = ROLLED; row[next] = PENDING; next++;
        settle();
        endStep()
       }
    :: d_step { row[1] == MERGING -> row[1] = ROLLED; settle(); endStep() }
#if WRITES >= 2
    :: d_step { row[2] == MERGING && next <= WRITES && !calm ->
        printf("D: merges, and writes %d\n", next);
        row[2] = ROLLED; row[next] = PENDING; next++;
        settle();
        endStep()
       }
    :: d_step { row[2] == MERGING -> row[2] = ROLLED; settle(); endStep() }
#endif
#if WRITES >= 3
    :: d_step { row[3] == MERGING -> row[3] = ROLLED; settle(); endStep() }
#endif
#endif

    /* ---- a crash of the device */
    :: d_step { !calm ->
        printf("D: crashes and starts\n");
        clearFeed(); clearRead(); clearSender();
        caughtUp = 0; sawGap = 0;
        resumesAfter = NONE;
        sentThrough = next - 1
       }

    /* ---- faults stop */
    :: d_step { !calm ->
        calm = 1;
        printf("the faults end\n");
        clearCopy(); clearFeed(); clearRead(); clearSender();
        caughtUp = 0;
        endStep()
       }

    /* ---- nothing else can happen: all has come to rest */
    :: timeout -> break
    od;
    skip;
    d_step {
        assert(calm);
        for (i : 1 .. WRITES) {
            /* (a), (e) each accepted write is decided, and no row remains */
            assert(row[i] == ABSENT || row[i] == LEFT || row[i] == ROLLED || e_rows_remain)
        }
        /* (e) the view, which is the base now, equals the server's record */
        assert((bKnown && bEp == sEp && bBits == sBits && bFor == sFor) || e_view_differs);
        assert(sRec == 0 || bRev == sRec || e_view_differs);
        assert(wEp == 0);
        resting = 1
    }
}

#ifdef LIVENESS
/* Once the faults stop, all comes to rest: there is no endless run in which requests repeat. */
ltl rest { [] (calm -> <> resting) }
#endif
