package io.github.pulsarspark.storage.bookkeeper.bookies

import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap, ExecutorService, Executors, TimeUnit}

import scala.concurrent.duration.FiniteDuration
import scala.util.Try

import io.netty.util.NetUtil

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.policy.{AllowedHosts, CalledPort}

/** Resolves host names on threads of its own, because a look-up has no deadline and cannot be interrupted. Callers wait
  * with a deadline; a pending look-up is shared, so there is at most one thread for each name.
  */
private[storage] final class HostNames(lookUp: String => InetAddress) {
  import HostNames._

  private val underWay = new ConcurrentHashMap[String, CompletableFuture[InetAddress]]

  /** Fails with `UnknownHostException` when there is no such host, and with the error of the policy of a server when it
    * does not list the host.
    */
  def resolve(address: BookieAddress): CompletableFuture[InetSocketAddress] =
    try {
      AllowedHosts.check(BookieAddress.OptionKey, address.host, address.port)
      resolve(address.host).thenApply[InetSocketAddress] { found =>
        AllowedHosts.checkAddress(BookieAddress.OptionKey, address.host, found, CalledPort.At(address.port))
        new InetSocketAddress(found, address.port)
      }
    } catch { case e: Throwable with PulsarError => CompletableFuture.failedFuture(e) }

  private def resolve(host: String): CompletableFuture[InetAddress] =
    literal(host).fold(lookedUp(host))(CompletableFuture.completedFuture(_))

  private def lookedUp(host: String): CompletableFuture[InetAddress] = {
    val mine  = new CompletableFuture[InetAddress]
    val other = underWay.putIfAbsent(host, mine)
    if (other != null) other
    else {
      threads.execute { () =>
        try mine.complete(lookUp(host))
        catch { case e: Throwable => mine.completeExceptionally(e) }
        finally underWay.remove(host, mine)
        ()
      }
      mine
    }
  }
}

private[storage] object HostNames {

  val ofThisJvm: HostNames = new HostNames(InetAddress.getByName)

  /** The address that a text is, if it is one; an IPv6 address has no brackets. */
  def literal(host: String): Option[InetAddress] =
    Option(NetUtil.createByteArrayFromIpAddressString(host)).map(InetAddress.getByAddress)

  /** The result of work that resolves names; None when it fails or exceeds its time. */
  def within[A](patience: FiniteDuration)(work: => A): Option[A] =
    Try(CompletableFuture.supplyAsync[A](() => work, threads).get(patience.toMillis, TimeUnit.MILLISECONDS)).toOption

  private val threads: ExecutorService = Executors.newCachedThreadPool { task =>
    val thread = new Thread(task, "pulsar-spark-host-names")
    thread.setDaemon(true)
    thread
  }
}
