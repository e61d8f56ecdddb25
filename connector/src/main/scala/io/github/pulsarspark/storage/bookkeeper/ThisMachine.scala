package io.github.pulsarspark.storage.bookkeeper

import java.net.{InetAddress, NetworkInterface}
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.github.pulsarspark.storage.BookieLedger

/** Tells which bookies are on this machine, by the host in their ids: it is one of this machine's addresses, or its name. Names are asked for only where an id has
  * one, as that may take a name server.
  */
private[bookkeeper] object ThisMachine {

  private lazy val addresses: Set[String] =
    Try(NetworkInterface.networkInterfaces.iterator.asScala.flatMap(_.getInetAddresses.asScala).map(textOf).toSet).getOrElse(Set.empty)

  private lazy val names: Set[String] = {
    val own = Try(InetAddress.getLocalHost).toOption.toSeq
    (own.flatMap(a => Seq(a.getHostName, a.getCanonicalHostName)) :+ "localhost").map(_.toLowerCase(Locale.ROOT)).toSet
  }

  /** @param bookie
    *   its id
    */
  def has(bookie: String): Boolean = {
    val host = BookieLedger.hostOf(bookie).toLowerCase(Locale.ROOT)
    if (isAddress(host)) Try(InetAddress.getByName(host)).toOption.exists(a => a.isLoopbackAddress || addresses(textOf(a))) else names(host)
  }

  private def isAddress(host: String): Boolean = host.startsWith("[") || host.nonEmpty && host.forall(c => c.isDigit || c == '.')

  /** Without the interface. */
  private def textOf(address: InetAddress): String = address.getHostAddress.takeWhile(_ != '%')
}
