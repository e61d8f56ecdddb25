package io.github.pulsarspark.storage.bookkeeper.bookies

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.common.Recently

/** The order in which the bookies of an entry are tried: first one on this machine, last one that was recently slow.
  * Otherwise each task, and in a striped ledger each read, would wait for the slow one again.
  *
  * @param isHere
  *   whether a bookie is on this machine, by its id
  */
private[bookkeeper] final class BookieRanks(
    isHere: String => Boolean = LocalHost.has,
    nanos: () => Long = () => System.nanoTime()
) {
  import BookieRanks._

  private val slow = new Recently[String](Avoided, nanos)
  private val here = new TrieMap[String, Boolean]

  def addSlow(bookie: String): Unit = slow.add(bookie)

  def isSlow(bookie: String): Boolean = slow.contains(bookie)

  /** The lowest is tried first. */
  def apply(bookie: String): Int = if (isSlow(bookie)) 2 else if (here.getOrElseUpdate(bookie, isHere(bookie))) 0 else 1
}

private[bookkeeper] object BookieRanks {
  private val Avoided = 60.seconds

  /** Ranks by the observations of all tasks in this JVM. */
  val ofThisJvm: BookieRanks = new BookieRanks
}
