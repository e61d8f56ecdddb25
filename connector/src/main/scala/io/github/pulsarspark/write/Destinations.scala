package io.github.pulsarspark.write

import scala.jdk.CollectionConverters._

import org.apache.spark.unsafe.types.UTF8String

/** What a task keeps open for the topics that its rows name, a bounded number. When there are too many, a part of them
  * is given back at once, those that were used least recently. A topic that was given back is opened again. For one
  * thread.
  *
  * @param most
  *   that are open at a time
  * @param open
  *   opens what a topic needs
  * @param giveBack
  *   ends their use; they stay when it fails
  */
private[write] final class Destinations[A](most: Int, open: String => A, giveBack: Seq[A] => Unit) {

  private val byName = new java.util.LinkedHashMap[UTF8String, A](16, 0.75f, true) // in the order of their last use

  /** @param name of a topic, only valid during the call */
  def apply(name: UTF8String): A = Option(byName.get(name)).getOrElse {
    if (byName.size >= most) shrink()
    val opened = open(name.toString)
    byName.put(name.copy(), opened)
    opened
  }

  private def shrink(): Unit = {
    val oldest = byName.asScala.iterator.take(math.max(1, most / Destinations.Part)).toSeq
    giveBack(oldest.map(_._2))
    oldest.foreach { case (name, _) => byName.remove(name) }
  }

  /** Those that are open. */
  def all: Iterable[A] = byName.values.asScala
}

private[write] object Destinations {

  /** Producers of one task; each has a buffer, and a request to open it. */
  val Most = 256

  /** This part of them is given back at a time, so that one wait for acknowledgements serves many. */
  private val Part = 4
}
