package io.github.pulsarspark.storage.bookkeeper.protocol

import java.net.InetSocketAddress
import java.nio.channels.spi.SelectorProvider
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Using

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.options.BookKeeperOptions
import io.github.pulsarspark.policy.AllowedHosts
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieAddress, BookieRanks, HostNames, OldBookies}

/** The connections of one task to bookies: one to each that it reads from, handed from slice to slice. Used by one
  * thread.
  *
  * @param ranks
  *   in which order bookies are tried
  * @param old
  *   bookies without batch reads
  * @param stall
  *   how long a bookie may be silent before another one is read
  */
private[storage] final class WireConnections(
    options: BookKeeperOptions,
    private[protocol] val ranks: BookieRanks = BookieRanks.ofThisJvm,
    old: Recently[String] = OldBookies.ofThisJvm,
    names: HostNames = HostNames.ofThisJvm,
    sockets: SelectorProvider = SelectorProvider.provider,
    private[protocol] val stall: FiniteDuration = WireConnections.StallTimeout
) extends AutoCloseable {
  import WireConnections._

  private val open = mutable.Map.empty[String, WireConnection]

  /** Bookies that closed a connection without a response to a batch read. A single read then shows whether that was the
    * reason.
    */
  private val suspects = mutable.Set.empty[String]

  /** The connection to a bookie, which may still be connecting. Fails with [[ReplicaFailed]].
    *
    * @param patience
    *   how long its host name may take
    */
  private[protocol] def to(bookie: String, patience: FiniteDuration): WireConnection =
    open.get(bookie).filterNot(_.isLost).getOrElse {
      open.remove(bookie).foreach { lost =>
        if (lost.isBatch && lost.wasRefused) suspects += bookie else suspects -= bookie
      }
      val isBatch = !suspects(bookie) && !old.contains(bookie)
      val socket  = BookieSocket.connect(addressOf(bookie, patience), sockets)
      val result  = new WireConnection(socket, isBatch, () => if (!isBatch) confirm(bookie))
      open.put(bookie, result)
      result
    }

  private def confirm(bookie: String): Unit = if (suspects.remove(bookie)) {
    log.info(s"bookie $bookie has no batch reads (BookKeeper before 4.17); it is sent reads of single entries")
    old.add(bookie)
  }

  private def addressOf(bookie: String, patience: FiniteDuration): InetSocketAddress = {
    val address =
      BookieAddress.of(bookie, options).getOrElse(
        throw new ReplicaFailed("its id is no address (bookieAddresses)", isSlow = false)
      )
    try names.resolve(address).get(patience.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException if AllowedHosts.refuses(e) =>
        throw new ReplicaFailed("the policy of this Spark server does not list it", isSlow = false)
      case _: ExecutionException => throw new ReplicaFailed(s"there is no host ${address.host}", isSlow = true)
      case _: TimeoutException   =>
        throw new ReplicaFailed(s"the host name ${address.host} was not resolved within ${patience.toMillis} ms",
          isSlow = true)
    }
  }

  override def close(): Unit =
    try Using.Manager(use => open.values.foreach(use(_))).get
    finally open.clear()
}

private[storage] object WireConnections {
  private val log = LoggerFactory.getLogger(classOf[WireConnections])

  /** Timeout as in BookKeeper's client (its `speculativeReadTimeout`). */
  private val StallTimeout = 2.seconds
}
