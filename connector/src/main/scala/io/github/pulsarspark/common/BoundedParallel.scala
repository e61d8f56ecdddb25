package io.github.pulsarspark.common

import scala.collection.mutable

/** Sends many requests, a limited number at a time, and takes their responses in the order of the requests. */
private[pulsarspark] object BoundedParallel {

  /** @param ask
    *   does not wait
    * @param take
    *   waits for the response
    */
  def apply[A, B, C](items: Seq[A], atOnce: Int)(ask: A => B)(take: (A, B) => C): Seq[C] = {
    val rest     = items.iterator
    val underWay = mutable.Queue.empty[(A, B)]
    items.map { _ =>
      while (underWay.size < atOnce && rest.hasNext) {
        val item = rest.next()
        underWay.enqueue(item -> ask(item))
      }
      val (item, answer) = underWay.dequeue()
      take(item, answer)
    }
  }
}
