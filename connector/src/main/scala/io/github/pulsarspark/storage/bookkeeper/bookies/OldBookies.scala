package io.github.pulsarspark.storage.bookkeeper.bookies

import scala.concurrent.duration._

import io.github.pulsarspark.common.Recently

/** Bookies, by id, without batch reads: BookKeeper before 4.17, as in Pulsar 3.0 to 3.2. They close the connection at
  * such a request, under every read that shares it. A bookie may be upgraded, so this is forgotten after a while.
  */
private[bookkeeper] object OldBookies {

  def none(): Recently[String] = new Recently[String](10.minutes)

  /** Bookies that any task of this JVM found. */
  val ofThisJvm: Recently[String] = none()
}
