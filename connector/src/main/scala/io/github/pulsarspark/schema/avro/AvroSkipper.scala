package io.github.pulsarspark.schema.avro

import java.util.IdentityHashMap

import scala.jdk.CollectionConverters._

import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.InternalRow

/** Skips values that are not requested, one after the other. All of it is one class whose steps are numbers: a call
  * through an interface for each value would take longer than what it does.
  */
private[schema] final class AvroSkipper private (
    private val schemas: Seq[Schema],
    records: IdentityHashMap[Schema, AvroSkipper]
) extends AvroReader {
  import AvroSkipper._

  /** Steps in order: a number of bytes to skip, or one of the constants below. */
  private var steps: Array[Int] = Array.emptyIntArray

  /** Parts of each step: the branches of a union, the item of an array or a map, the fields of a record. */
  private var parts: Array[Array[AvroSkipper]] = Array.empty

  private def compile(): this.type = {
    val compiled = schemas.foldLeft(Vector.empty[(Int, Array[AvroSkipper])]) { (before, schema) =>
      (before.lastOption, step(schema)) match {
        case (Some((bytes, _)), (more, _)) if bytes >= 0 && more >= 0 && bytes + more >= 0 =>
          before.init :+ ((bytes + more, NoParts))
        case (_, next) => before :+ next
      }
    }
    steps = compiled.map(_._1).toArray
    parts = compiled.map(_._2).toArray
    this
  }

  private def step(schema: Schema): (Int, Array[AvroSkipper]) = schema.getType match {
    case Type.NULL                        => (0, NoParts)
    case Type.BOOLEAN                     => (1, NoParts)
    case Type.INT | Type.LONG | Type.ENUM => (Number, NoParts)
    case Type.FLOAT                       => (4, NoParts)
    case Type.DOUBLE                      => (8, NoParts)
    case Type.BYTES | Type.STRING         => (Bytes, NoParts)
    case Type.FIXED                       => (schema.getFixedSize, NoParts)
    case Type.ARRAY                       => (Blocks, Array(of(Seq(schema.getElementType))))
    case Type.MAP                         => (Blocks, Array(of(Seq(Schema.create(Type.STRING), schema.getValueType))))
    case Type.UNION                       => (Union, schema.getTypes.asScala.map(t => of(Seq(t))).toArray)
    case Type.RECORD                      => (Record, Array(record(schema)))
  }

  private def of(schemas: Seq[Schema]) = new AvroSkipper(schemas, records).compile()

  /** Records that are being compiled are kept, because a writer's schema may contain itself. */
  private def record(schema: Schema): AvroSkipper = {
    val known = records.get(schema)
    if (known != null) known
    else {
      val fields = new AvroSkipper(schema.getFields.asScala.map(_.schema).toSeq, records)
      records.put(schema, fields)
      fields.compile()
    }
  }

  /** Skips this and then the other. */
  def andThen(next: AvroSkipper): AvroSkipper = new AvroSkipper(schemas ++ next.schemas, records).compile()

  def skip(in: AvroInput): Unit = {
    var i = 0
    while (i < steps.length) {
      steps(i) match {
        case Number => in.skipNumber()
        case Bytes  => in.skip(in.length().toLong)
        case Union  =>
          val branches = parts(i)
          branches(in.index(branches.length)).skip(in)
        case Blocks => skipBlocks(parts(i)(0), in)
        case Record =>
          in.enter()
          parts(i)(0).skip(in)
          in.leave()
        case bytes => in.skip(bytes.toLong)
      }
      i += 1
    }
  }

  private def skipBlocks(item: AvroSkipper, in: AvroInput): Unit = {
    var count = in.skippedBlockCount()
    while (count > 0) {
      item.skip(in)
      count -= 1
      if (count == 0) count = in.skippedBlockCount()
    }
  }

  override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = skip(in)

  override def value(in: AvroInput): Any = {
    skip(in)
    null
  }
}

private[schema] object AvroSkipper {
  private final val Number = -1
  private final val Bytes  = -2
  private final val Union  = -3
  private final val Blocks = -4
  private final val Record = -5

  private val NoParts = Array.empty[AvroSkipper]

  def apply(writer: Schema): AvroSkipper = new AvroSkipper(Seq(writer), new IdentityHashMap).compile()
}
