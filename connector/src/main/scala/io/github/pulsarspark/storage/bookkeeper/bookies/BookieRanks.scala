package io.github.pulsarspark.storage.bookkeeper.bookies

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.common.Recently

/** Which of the bookies that have an entry is asked for it: first one on this machine, last one that kept somebody
  * waiting lately. Otherwise each task, and in a striped ledger each read, would wait for that one anew.
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

  /** The lowest is asked first. */
  def apply(bookie: String): Int = if (isSlow(bookie)) 2 else if (here.getOrElseUpdate(bookie, isHere(bookie))) 0 else 1
}

private[bookkeeper] object BookieRanks {
  private val Avoided = 60.seconds

  /** By what any task of this JVM came upon. */
  val ofThisJvm: BookieRanks = new BookieRanks
}
