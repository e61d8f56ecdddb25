package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{FakeFeed, PartitionFeed, PendingFeed}
import io.github.pulsarspark.pulsar.feed.FakeFeeds.Script

class IdleTailMonitorSuite extends UnitSuite {

  private val options =
    ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://h:1", "topic" -> "t", "operationTimeoutMs" -> "2000"),
      Scope.BatchRead,
      _ => Nil
    ))

  private val after = Position(5, 9)
  private val begin = Position(7, -1)
  private val quiet = Script(Nil, Seq(begin), last = begin, isUnbroken = true)

  private val answers = new ClusterCalls(options.client, "pulsar://h:1")

  private final class Watching(script: Script, at: Position = after) {
    val feed    = new FakeFeed(script)
    val watches = new IdleTailMonitor((_, _) => new PendingFeed(CompletableFuture.completedFuture(feed)), answers)
    watches.watch(Map("t" -> at), Set("t"), _ => false)

    def sawNothing(first: Position = begin): Boolean = watches.emptyBefore(Map("t" -> first)) == Map("t" -> at)
  }

  test("a watch that answers and received nothing proves that nothing was published") {
    val watching = new Watching(quiet)
    assert(watching.sawNothing())
    assert(watching.feed.resumed)
    assertEquals(watching.feed.requests.get, 1, "it has to answer by itself")
  }

  test("a watch that knows of no later ledger proves nothing: the broker may have forgotten it") {
    assert(!new Watching(quiet.copy(last = after)).sawNothing())
  }

  test("no request is sent while the start of the partition stays") {
    val watching = new Watching(quiet)
    assert(!watching.sawNothing(after))
    assertEquals(watching.feed.requests.get, 0)
  }

  test("a message before the partition's new start counts as seen; a later one does not") {
    assert(!new Watching(quiet.copy(sends = Seq(Position(6, 0) -> 1))).sawNothing())
    assert(new Watching(quiet.copy(sends = Seq(Position(7, 0) -> 1))).sawNothing())
  }

  test(
    "the ledger disappeared in an outage: proves nothing, but of a ledger of which nothing was read, if it was short"
  ) {
    val broken = quiet.copy(isUnbroken = false)
    assert(!new Watching(broken).sawNothing(), "messages may have been published and deleted meanwhile")
    assert(new Watching(broken.copy(outageMillis = 45000), Position(5, -1)).sawNothing(), "an empty ledger is dropped")
    assert(!new Watching(broken.copy(outageMillis = 45001), Position(5, -1)).sawNothing())
    assert(new Watching(quiet.copy(outageMillis = 45001)).sawNothing(), "the ledger was there after the outage")
  }

  test("a watch that does not answer proves nothing") {
    val refused = CompletableFuture.failedFuture[PartitionFeed.Bounds](new PulsarClientException("no connection"))
    assert(!new Watching(quiet.copy(bounds = Some(refused))).sawNothing())
    assert(!new Watching(quiet.copy(goneAfter = true)).sawNothing())
  }

  test("a watch that opens after everything was closed is closed") {
    val late    = new CompletableFuture[FakeFeed]
    val feed    = new FakeFeed(quiet)
    val watches = new IdleTailMonitor((_, _) => new PendingFeed(late), answers)
    Thread.currentThread.interrupt()
    val interrupted =
      try {
        watches.watch(Map("t" -> after), Set("t"), _ => false)
        false
      } catch { case _: InterruptedException => true } // which munit takes for its own end
    assert(interrupted)
    watches.closeAll()
    late.complete(feed)
    assert(feed.closed)
  }

  test("a watch without a position stays to answer requests, unless another consumer answers them") {
    val watching = new Watching(quiet)
    watching.watches.watch(Map.empty, Set.empty, _ => false)
    assertEquals(watching.watches.after("t"), Some(after))
    watching.watches.watch(Map.empty, Set.empty, _ == "t")
    assert(watching.feed.closed)
    assertEquals(watching.watches.after("t"), None)
  }

  test("the watch of a partition that is gone ends") {
    val watching = new Watching(quiet)
    watching.watches.retain(_ != "t")
    assert(watching.feed.closed)
  }

  test("partitions whose watches fail do not keep those of others from being opened") {
    val names   = (1000 until 1600).map(n => s"t$n")
    val opened  = scala.collection.concurrent.TrieMap.empty[String, Int]
    val watches = new IdleTailMonitor(
      (partition, _) => {
        opened.updateWith(partition)(n => Some(n.getOrElse(0) + 1))
        new PendingFeed(CompletableFuture.failedFuture[FakeFeed](new PulsarClientException("refused")))
      },
      answers
    )
    (1 to 3).foreach(_ => watches.watch(names.map(_ -> after).toMap, names.toSet, _ => false))
    assertEquals(opened.keySet, names.toSet)
    assert(opened.values.forall(_ <= 2), opened)
  }
}
