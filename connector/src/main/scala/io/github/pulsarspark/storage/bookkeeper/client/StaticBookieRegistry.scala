package io.github.pulsarspark.storage.bookkeeper.client

import java.util.concurrent.CompletableFuture
import java.util.{Collections, Set => JSet}

import org.apache.bookkeeper.discover.RegistrationClient.RegistrationListener
import org.apache.bookkeeper.discover.{BookieServiceInfo, BookieServiceInfoUtils, RegistrationClient}
import org.apache.bookkeeper.net.BookieId
import org.apache.bookkeeper.versioning.{LongVersion, Versioned}

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.policy.AllowedHosts
import io.github.pulsarspark.storage.bookkeeper.bookies.BookieAddress

/** The addresses of bookies, for BookKeeper's client. A bookie's id is its address unless `addresses` says otherwise.
  * No bookie is ever chosen for writing, so none is listed. One that the policy of a server does not list has no
  * address.
  */
private[bookkeeper] final class StaticBookieRegistry(addresses: Map[String, String]) extends RegistrationClient {

  private val none: Versioned[JSet[BookieId]] = new Versioned(Collections.emptySet[BookieId](), new LongVersion(0))

  override def getBookieServiceInfo(bookie: BookieId): CompletableFuture[Versioned[BookieServiceInfo]] =
    try {
      val info = BookieServiceInfoUtils.buildLegacyBookieServiceInfo(addresses.getOrElse(bookie.getId, bookie.getId))
      info.getEndpoints.forEach(e => AllowedHosts.check(BookieAddress.OptionKey, e.getHost, e.getPort))
      CompletableFuture.completedFuture(new Versioned(info, new LongVersion(-1)))
    } catch {
      case e @ (_: java.net.UnknownHostException | _: PulsarError) => CompletableFuture.failedFuture(e)
    }

  override def getWritableBookies: CompletableFuture[Versioned[JSet[BookieId]]] =
    CompletableFuture.completedFuture(none)
  override def getAllBookies: CompletableFuture[Versioned[JSet[BookieId]]] = CompletableFuture.completedFuture(none)
  override def getReadOnlyBookies: CompletableFuture[Versioned[JSet[BookieId]]] =
    CompletableFuture.completedFuture(none)

  override def watchWritableBookies(listener: RegistrationListener): CompletableFuture[Void] = notifyOnce(listener)
  override def watchReadOnlyBookies(listener: RegistrationListener): CompletableFuture[Void] = notifyOnce(listener)
  override def unwatchWritableBookies(listener: RegistrationListener): Unit                  = ()
  override def unwatchReadOnlyBookies(listener: RegistrationListener): Unit                  = ()
  override def close(): Unit                                                                 = ()

  /** BookKeeper's client does not start before its first notification. */
  private def notifyOnce(listener: RegistrationListener): CompletableFuture[Void] = {
    listener.onBookiesChanged(none)
    CompletableFuture.completedFuture(null)
  }
}
