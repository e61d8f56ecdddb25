package io.github.pulsarspark.cluster

import java.util.concurrent.atomic.AtomicLong

/** Topics that an admin service makes and deletes in the namespace `public/default`, the only one there is.
  *
  * @param names
  *   of the topic partitions that exist
  */
private[cluster] final class ScriptedChanges(
    names: => Iterable[String],
    add: StoredTopic => Unit,
    remove: String => Unit
) {
  private val ids = new AtomicLong(1000000)

  /** Topics whose deletion is refused. */
  @volatile var inUse: Set[String] = Set.empty

  /** Makes a change; returns the status of the response. */
  def apply(method: String, path: List[String], body: String): Int = (method, path) match {
    case (_, tenant :: space :: _) if tenant != "public" || space != "default" => 404
    case ("PUT", List(_, _, topic))               => if (of(topic).nonEmpty) 409 else made(full(topic))
    case ("PUT", List(_, _, topic, "partitions")) =>
      if (of(topic).nonEmpty) 409 else made((0 until body.toInt).map(partition(topic, _)): _*)
    case ("POST", List(_, _, topic, "partitions")) =>
      val before = of(topic).size
      if (before == 0) 404 else made((before until body.toInt).map(partition(topic, _)): _*)
    case ("DELETE", _ :: _ :: topic :: rest) if rest.isEmpty || rest == List("partitions") =>
      val known = if (rest.isEmpty) of(topic).filter(_ == full(topic)) else of(topic).filterNot(_ == full(topic))
      if (known.isEmpty) 404
      else if (inUse(full(topic))) 412
      else {
        known.foreach(remove)
        204
      }
    case _ => 404
  }

  /** Makes a topic without partitions by its full name. */
  def make(name: String): Int = made(name)

  private def full(topic: String)                  = s"persistent://public/default/$topic"
  private def partition(topic: String, index: Int) = s"${full(topic)}-partition-$index"

  /** Partitions of a topic, or the topic itself. */
  private def of(topic: String): Seq[String] =
    names.filter(n => n == full(topic) || n.startsWith(s"${full(topic)}-partition-")).toSeq

  private def made(partitions: String*): Int = {
    partitions.foreach(name => add(StoredTopic(name, Vector(TopicLedger(ids.getAndIncrement(), Vector.empty)))))
    204
  }
}
