package io.github.pulsarspark.position

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** JSON with a position, or a mark, for each of many topic partitions. What their names have in common is written once:
  *
  * {{{
  * {"persistent://public/default/": {"orders": {"0": "12:34:5", "1": "7:0"}, "not-partitioned": "9:4"}}
  * }}}
  *
  * Version 1 of offsets has no levels: `{"persistent://public/default/orders-partition-0": "12:34:5"}`.
  */
private[position] object PartitionNames {

  private val partition = "(.*)-partition-(0|[1-9][0-9]{0,8})".r

  /** The key of a topic that is not partitioned, where partitions have its name, too. */
  private val NotPartitioned = ""

  def write(node: ObjectNode, values: SortedMap[String, _]): Unit =
    values.foreach { case (name, value) =>
      val (prefix, local) = name.splitAt(name.lastIndexOf('/') + 1)
      local match {
        case partition(topic, index) => inner(node.withObjectProperty(prefix), topic).put(index, value.toString)
        case topic                   =>
          val topics = node.withObjectProperty(prefix)
          if (topics.path(topic).isObject) inner(topics, topic).put(NotPartitioned, value.toString)
          else topics.put(topic, value.toString)
      }
    }

  private def inner(topics: ObjectNode, topic: String): ObjectNode = {
    val alone = topics.path(topic)
    if (alone.isTextual) topics.putObject(topic).put(NotPartitioned, alone.asText)
    topics.withObjectProperty(topic)
  }

  /** The positions as they are in the JSON, of any version, with the full names of their partitions. */
  def read(node: JsonNode): Iterator[(String, JsonNode)] =
    fields(node).flatMap {
      case (prefix, topics) if topics.isObject && (prefix.isEmpty || prefix.endsWith("/")) =>
        fields(topics).flatMap {
          case (topic, partitions) if partitions.isObject =>
            fields(partitions).map {
              case (NotPartitioned, position) => (prefix + topic, position)
              case (index, position)          => (s"$prefix$topic-partition-$index", position)
            }
          case (topic, position) => Iterator((prefix + topic, position))
        }
      case named => Iterator(named)
    }

  private def fields(node: JsonNode) = node.properties().asScala.iterator.map(e => e.getKey -> e.getValue)
}
