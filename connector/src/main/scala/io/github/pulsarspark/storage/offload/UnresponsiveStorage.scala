package io.github.pulsarspark.storage.offload

import scala.concurrent.duration._

import io.github.pulsarspark.common.Recently

/** A circuit breaker for storage of offloaded ledgers, by URI: storage that did not respond in time to this JVM is not
  * requested for some minutes, where the broker can read instead. Otherwise each of many ledgers would be waited for
  * until the deadline.
  */
private[offload] object UnresponsiveStorage {

  private val Pause  = 5.minutes
  private val silent = new Recently[String](Pause)

  def add(uri: String): Unit = silent.add(uri)

  def contains(uri: String): Boolean = silent.contains(uri)

  /** Reason not to read the location; None if it may be read. */
  def obstacle(uri: String): Option[String] =
    Option.when(contains(uri))(s"$uri did not respond in the last ${Pause.toMinutes} minutes")
}
