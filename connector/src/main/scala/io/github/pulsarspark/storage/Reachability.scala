package io.github.pulsarspark.storage

import java.net.InetSocketAddress
import java.nio.channels.AsynchronousSocketChannel
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.util.Try

import io.github.pulsarspark.options.BookKeeperOptions

/** Tells whether this JVM can connect to the bookies that have a ledger. Answers are kept for a while.
  *
  * The driver asks for the executors, which usually are in the same network; a task that does not reach them goes to the broker by itself.
  */
private[storage] final class Reachability(options: BookKeeperOptions) {
  import Reachability._

  /** None when every entry can be read from at least one bookie; else what is missing. */
  def obstacle(ledger: BookieLedger): Option[String] = {
    check(ledger.bookies)
    ledger.ensembles.collectFirst {
      case (_, bookies) if bookies.count(reachable) < ledger.ensembleSize - ledger.writeQuorum + 1 =>
        s"no connection to ${bookies.filterNot(reachable).mkString(", ")}, where ledger ${ledger.id} is"
    }
  }

  private def reachable(bookie: String): Boolean = known.get(bookie).exists(_.connected)

  private def check(bookies: Seq[String]): Unit = {
    val asked = bookies.filterNot(b => known.get(b).exists(_.isFresh)).map { bookie =>
      val channel = Try(AsynchronousSocketChannel.open())
      (bookie, channel, channel.flatMap(c => Try(c.connect(addressOf(bookie)))))
    }
    val deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ConnectMillis)
    asked.foreach { case (bookie, channel, connecting) =>
      val left      = math.max(1L, deadline - System.nanoTime())
      val connected = connecting.flatMap(c => Try(c.get(left, TimeUnit.NANOSECONDS))).isSuccess
      channel.foreach(c => Try(c.close()))
      known.put(bookie, Answer(connected, System.nanoTime()))
    }
  }

  private def addressOf(bookie: String): InetSocketAddress = {
    val address = options.addresses.getOrElse(bookie, bookie)
    val colon   = address.lastIndexOf(':')
    new InetSocketAddress(address.substring(0, colon), address.substring(colon + 1).toInt)
  }

  private val known = answers.computeIfAbsent(options, _ => new scala.collection.concurrent.TrieMap[String, Answer])
}

private object Reachability {
  private final case class Answer(connected: Boolean, at: Long) {
    def isFresh: Boolean = System.nanoTime() - at < TimeUnit.SECONDS.toNanos(if (connected) FreshSeconds else StaleSeconds)
  }

  private val answers = new ConcurrentHashMap[BookKeeperOptions, scala.collection.concurrent.TrieMap[String, Answer]]

  private val ConnectMillis = 3000L
  private val FreshSeconds  = 60L
  private val StaleSeconds  = 10L
}
