package io.github.pulsarspark.read.plan

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.policy.AllowedStorage
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.SchemaMerge

/** The schemas that a streaming query reads with, kept from one start to the next: files `0.json`, `1.json`, ..., of
  * which the last one counts and the others are history.
  *
  * @param location
  *   a folder of this query alone
  */
private[read] final class SchemaTracking(location: String, conf: Configuration) {
  import SchemaTracking._

  AllowedStorage.check("schemaTrackingLocation", location, conf)

  /** The schemas to read by: those that were kept, with what is new. */
  def merged(newest: Seq[(String, TopicSchema)]): Seq[(String, TopicSchema)] = {
    val known = kept()
    newest.map { case (topic, schema) =>
      topic ->
        known.get(topic).fold(schema)(was =>
          SchemaMerge(topic, was, schema).fold(d => throw changed(topic, d, was, schema), identity)
        )
    }
  }

  /** Writes the schemas of a query that starts now, unless they are written. */
  def keep(schemas: Map[String, TopicSchema]): Unit = {
    val known = kept()
    val now   = known ++ schemas.view.mapValues(s => TopicSchema(s.schemaType, s.definition, s.properties))
    if (now != known) file(numbers().lastOption.fold(0)(_ + 1)).write(json(now))
  }

  private def kept(): Map[String, TopicSchema] = numbers().lastOption.fold(Map.empty[String, TopicSchema])(n =>
    parse(file(n))
  )

  private def file(number: Int) = new WriteOnceFile(location, s"$number.json", conf)

  private def numbers(): Seq[Int] = {
    val folder = new Path(location)
    val fs     = folder.getFileSystem(conf)
    if (!fs.exists(folder)) Nil
    else fs.listStatus(folder).toSeq.map(_.getPath.getName).collect { case Name(number) => number.toInt }.sorted
  }

  private def changed(topic: String, difference: String, was: TopicSchema, is: TopicSchema) =
    Conditions.SchemaChanged(topic = topic, difference = difference, location = file(numbers().last).toString,
      was = text(was), is = text(is)).exception
}

private object SchemaTracking {
  private val Format = 1
  private val Name   = raw"(\d{1,9})\.json".r
  private val mapper = new ObjectMapper

  private def json(schemas: Map[String, TopicSchema]): String = {
    val root   = mapper.createObjectNode().put("version", Format)
    val topics = root.putObject("schemas")
    schemas.toSeq.sortBy(_._1).foreach { case (topic, schema) => schema.writeTo(topics.putObject(topic)) }
    root.toString
  }

  private def parse(file: WriteOnceFile): Map[String, TopicSchema] =
    try {
      val root = mapper.readTree(file.read())
      require(root.path("version").asInt == Format, s"its version is ${root.path("version")}, not $Format")
      root.get("schemas").properties.asScala.map(e => e.getKey -> TopicSchema.readFrom(e.getValue)).toMap
    } catch {
      case NonFatal(e) =>
        throw Conditions.SchemaLogMalformed(file = file.toString,
          why = Option(e.getMessage).getOrElse(e.toString)).causedBy(e)
    }

  /** Type and definition in one line. */
  private def text(schema: TopicSchema) = s"${schema.schemaType} ${schema.definition}".replaceAll("\\s+", " ").trim
}
