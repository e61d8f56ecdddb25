package io.github.pulsarspark.position

import scala.collection.immutable.SortedMap
import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.connector.read.streaming.Offset

import io.github.pulsarspark.errors.Conditions

/** Progress of a stream: everything up to and including one position in each topic partition is read.
  *
  * @param added
  *   where the batch that ends here starts to read a partition, if not at the end of the batch before: before the first
  *   message of a new partition, or of one whose ledgers were deleted after all their messages were read
  * @param missing
  *   what was read of partitions that no longer exist, so that a partition that returns is not read twice
  * @param marks
  *   messages of some partitions, by which the cluster is known to which the positions belong; none in offsets of early
  *   versions
  */
final case class PulsarOffset(
    positions: SortedMap[String, Position],
    added: SortedMap[String, Position] = SortedMap.empty,
    missing: SortedMap[String, Position] = SortedMap.empty,
    marks: SortedMap[String, PositionMark] = SortedMap.empty
) extends Offset {

  /** True if this goes as far as another offset, whatever their marks. */
  def isAsFarAs(other: PulsarOffset): Boolean =
    positions == other.positions && added == other.added && missing == other.missing

  /** `{"version":2,"positions":{"persistent://public/default/":{"t":{"0":"12:34:5"}}}}`, in alphabetical order. Spark
    * requests it several times at each trigger.
    */
  override lazy val json: String = {
    val root = PulsarOffset.mapper.createObjectNode().put("version", PulsarOffset.Version)
    PartitionNames.write(root.putObject("positions"), positions)
    if (added.nonEmpty) PartitionNames.write(root.putObject("added"), added)
    if (missing.nonEmpty) PartitionNames.write(root.putObject("missing"), missing)
    if (marks.nonEmpty) PartitionNames.write(root.putObject("marks"), marks)
    root.toString
  }
}

object PulsarOffset {

  /** The newest one that is read, and the one that is written. */
  private[position] val Version = 2
  private val mapper            = new ObjectMapper()

  def of(positions: Iterable[(String, Position)]): PulsarOffset = PulsarOffset(SortedMap.from(positions))

  /** Reads an offset of a stream, also one that streamnative/pulsar-spark wrote.
    *
    * @param where
    *   the file or log the text is from, for errors
    */
  def parse(text: String, where: String): PulsarOffset = {
    val root = tree(text, where)
    if (isOwn(root)) own(root, where) else IncumbentOffset.end(root).getOrElse(throw foreign(root, where))
  }

  /** True for the progress of a stream of this connector, in any version. */
  def isProgress(text: String): Boolean = Try(mapper.readTree(text)).toOption.exists(isOwn)

  /** Names the source that wrote an offset of a stream; None for a text that no known source writes. */
  def writer(text: String): Option[String] = Try(mapper.readTree(text)).toOption.flatMap { root =>
    if (isOwn(root)) Some(s"pulsar-spark, version ${root.get("version").asInt}")
    else IncumbentOffset.end(root).map(_ => "streamnative/pulsar-spark").orElse(ForeignOffset.source(root))
  }

  /** Reads the start of a stream as streamnative/pulsar-spark wrote it.
    *
    * @param where
    *   the file the text is from, for errors
    */
  def parseIncumbentStart(text: String, where: String): PulsarOffset = {
    val root = tree(text, where)
    IncumbentOffset.start(root).getOrElse(throw foreign(root, where))
  }

  /** The offset in a log that a source of Spark keeps: below the line of the version, before which Kafka's writes a
    * zero.
    */
  def logContent(text: String): String = text.stripPrefix("\u0000").replaceFirst("^v\\d+\n", "")

  private def tree(text: String, where: String): JsonNode =
    try mapper.readTree(text)
    catch { case NonFatal(_) => throw malformed(where, "it is not JSON") }

  private def isOwn(root: JsonNode) = root.path("version").isInt && root.path("positions").isObject

  private def malformed(where: String, why: String) = Conditions.CheckpointMalformed(where = where, why = why).exception

  private def foreign(root: JsonNode, where: String) =
    ForeignOffset.source(root).fold(malformed(where, "it has no `version` and `positions`"))(source =>
      Conditions.CheckpointForeign(where = where, source = source, offset = root.toString).exception
    )

  private def own(root: JsonNode, where: String): PulsarOffset = {
    def bad(why: String) = malformed(where, why)
    if (root.get("version").asInt > Version) throw bad(s"its version ${root.get("version")} is newer than $Version")
    def read[A](field: String, parse: String => Option[A], what: String) =
      SortedMap.from(PartitionNames.read(root.path(field)).map { case (name, value) =>
        name -> parse(value.asText).getOrElse(throw bad(s"`${value.asText}` of $name is not a $what"))
      })
    def places(field: String) = read(field, Position.parse, "position")
    PulsarOffset(places("positions"), places("added"), places("missing"), read("marks", PositionMark.parse, "mark"))
  }
}
