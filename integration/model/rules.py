"""What an exploration of the model may change: the rules of the protocol, how much happens, and what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """The rules of the protocol. Each one is there because the model fails without it.

    Attributes:
        fence: Only the last owner appends to the log.
        reads_first: A driver reads the log before it takes it over: who must not write fences nobody.
        barrier: A marker counts as absent only when a message behind it is readable.
        nonce: A driver refuses a log that another checkpoint began.
        disconnect_check: A task aborts when its producer lost a connection, as the resend may be stored twice.
        flush_first: A task hands its transaction over after its rows are stored.
        claim_last: A driver appends OWNER after it has read the open transactions, which proves that they are of
            earlier owners.
        own_aborts: At the end of an epoch a driver aborts only transactions of its own tasks and of earlier owners.
        of_any_epoch: Of earlier owners it aborts them whatever their epoch, as a checkpoint may have gone back.
        aborts_again: A driver that waits for a barrier aborts what other attempts of its epoch opened meanwhile.
        keeps_prepared: A driver aborts nothing after an append of PREPARED whose answer it did not see.
        proof: A driver proves that each transaction is open before it appends PREPARED.
        margin: It appends none, either, when one of them has too little time left for the commit.
        no_return: A stream refuses an epoch before the last one that is done.
        no_gap: A stream refuses an epoch that does not follow the last one that is done.
        same_rows: A stream repeats its last epoch only with as many rows. Other rows have another number in the model.
        anew_until_own: A stream that is to be written anew is so until this driver wrote an epoch; one that it found
            does not count.
        per_target: An epoch is done for its target alone.
        whole_state: A DONE has the last epoch of each target, so that those before it may go.
        keeps_done: A driver acknowledges the log up to the last DONE but one.
        refused_stops: A driver stops when it must not abort a transaction; refused is not ended.
        closes: A driver aborts at its end what is open of it and of earlier owners.
        tidies: A driver aborts each minute what is open of epochs that are done, and of earlier owners.
        alone: A repair fences nobody: it fails while a driver is connected.
        by_number: A repair ends only the torn epoch that the person named.
        counts_lost: A DONE that a person accepted counts the lost rows, too, because the stream repeats the epoch.
    """

    fence: bool = True
    reads_first: bool = True
    barrier: bool = True
    nonce: bool = True
    disconnect_check: bool = True
    flush_first: bool = True
    claim_last: bool = True
    own_aborts: bool = True
    of_any_epoch: bool = True
    aborts_again: bool = True
    keeps_prepared: bool = True
    proof: bool = True
    margin: bool = True
    no_return: bool = True
    no_gap: bool = True
    same_rows: bool = True
    anew_until_own: bool = True
    per_target: bool = True
    whole_state: bool = True
    keeps_done: bool = True
    refused_stops: bool = True
    closes: bool = True
    tidies: bool = True
    alone: bool = True
    by_number: bool = True
    counts_lost: bool = True


FAULTS = frozenset(
    {
        "driver",
        "second driver",
        "other query",
        "executor",
        "lost task",
        "cut",
        "reply",
        "abort",
        "time-out",
        "little time",
        "no more rows",
        "repair",
        "checkpoint deleted",
        "checkpoint back",
        "other guarantee",
        "other role",
    }
)


@dataclass(frozen=True)
class Bounds:
    """How much the model explores: each number is a maximum, and ``kinds`` the faults that may happen.

    Attributes:
        targets: How many targets a program writes in each batch, one after the other; 0 for a stream.
    """

    epochs: int = 2
    tasks: int = 2
    attempts: int = 2
    lives: int = 2
    faults: int = 1
    targets: int = 0
    kinds: frozenset[str] = FAULTS
