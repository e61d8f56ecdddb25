package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.{CompletableFuture, ConcurrentHashMap, TimeUnit, TimeoutException}

import scala.collection.concurrent.TrieMap

import io.github.pulsarspark.options.BookKeeperOptions
import io.github.pulsarspark.policy.AllowedHosts
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieAddress, HostNames}
import io.github.pulsarspark.storage.segment.BookieLocation

/** A circuit breaker for bookies, by id: a ledger whose bookies do not respond to this JVM is not read from them.
  * Unlike a breaker that counts failed reads, it probes a bookie before the first read. Results are kept for a while,
  * failures for longer each time; a read that got no response makes the next one probe again.
  *
  * The driver probes for the executors, which usually are in the same network; a task that does not reach bookies finds
  * out by itself, once for all its slices.
  */
private[storage] final class Reachability(options: BookKeeperOptions, names: HostNames = HostNames.ofThisJvm) {
  import Reachability._

  private val known = byCluster.computeIfAbsent(options, _ => new TrieMap[String, Answer])

  /** Reason why an entry cannot be read; None if every entry can be read from at least one bookie. Waits at most 3.5 s.
    */
  def obstacle(location: BookieLocation): Option[String] = {
    val until   = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PatienceMillis + GraceMillis)
    val answers = location.bookies.map(bookie => bookie -> answerOf(bookie))
    val unused  = answers.flatMap { case (bookie, answer) => answer.problem(until).map(bookie -> _) }.toMap
    location.ensembles.collectFirst {
      case (_, bookies) if bookies.count(!unused.contains(_)) < location.ensembleSize - location.writeQuorum + 1 =>
        bookies.flatMap(b => unused.get(b).map(problem => s"$problem $b")).mkString(", ")
    }
  }

  /** Probes bookies anew; returns the problem of each. Waits at most 3.5 s. */
  def probeAll(bookies: Seq[String]): Seq[(String, Option[String])] = {
    val until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PatienceMillis + GraceMillis)
    bookies.map(b => b -> Answer(probe(b), 0, 0)).map { case (b, answer) => b -> answer.problem(until) }
  }

  /** Forgets that these bookies responded, because they did not respond to a read: the next call probes them again. */
  def doubt(bookies: Seq[String]): Unit = bookies.foreach(b =>
    known.get(b).filter(_.isGood).foreach(known.remove(b, _))
  )

  private def answerOf(bookie: String): Answer = known.get(bookie).filter(_.isFresh).getOrElse {
    val answer = Answer(probe(bookie), System.nanoTime(), known.get(bookie).fold(0)(_.failures))
    known.put(bookie, answer)
    answer
  }

  private def probe(bookie: String): CompletableFuture[Option[String]] =
    BookieAddress
      .of(bookie, options)
      .fold(CompletableFuture.completedFuture[Option[String]](NoConnection)) { address =>
        names
          .resolve(address)
          .orTimeout(PatienceMillis, TimeUnit.MILLISECONDS)
          .thenCompose[Option[String]](BookieProbe(_, PatienceMillis))
          .exceptionally(failure => Some(if (AllowedHosts.refuses(failure)) NotListed else BookieProbe.NoConnection))
      }
}

private[storage] object Reachability {

  /** @param outcome
    *   the problem of a bookie; None if it has none
    * @param at
    *   when it was probed, by `System.nanoTime`
    * @param failedBefore
    *   how often in a row, before this
    */
  private final case class Answer(outcome: CompletableFuture[Option[String]], at: Long, failedBefore: Int) {

    def isGood: Boolean = outcome.isDone && outcome.join().isEmpty

    def failures: Int = if (isGood) 0 else failedBefore + 1

    def isFresh: Boolean = {
      val seconds =
        if (isGood) FreshSeconds else math.min(FreshSeconds, StaleSeconds << math.min(failedBefore, MaxDoublings))
      System.nanoTime() - at < TimeUnit.SECONDS.toNanos(seconds)
    }

    def problem(until: Long): Option[String] =
      try outcome.get(math.max(0L, until - System.nanoTime()), TimeUnit.NANOSECONDS)
      catch { case _: TimeoutException => NoConnection }
  }

  private val byCluster = new ConcurrentHashMap[BookKeeperOptions, TrieMap[String, Answer]]

  private val NoConnection   = Some(BookieProbe.NoConnection)
  private val NotListed      = "the policy of this Spark server does not list"
  private val PatienceMillis = 3000L
  private val GraceMillis    = 500L
  private val FreshSeconds   = 60L
  private val StaleSeconds   = 10L
  private val MaxDoublings   = 3
}
