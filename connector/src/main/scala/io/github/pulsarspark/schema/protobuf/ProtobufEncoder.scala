package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.google.protobuf.{Duration, Timestamp}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.convert.{ColumnMismatch, SparkTime}
import io.github.pulsarspark.schema.{ValueEncoder, WritePlan}

/** PROTOBUF_NATIVE and PROTOBUF values of columns, matched by name. A null is a field that is absent. It is refused
  * where an absent field is the same as a default.
  */
private[schema] final class ProtobufEncoder private (plan: WritePlan) {

  private def message(
      descriptor: Descriptor,
      columns: StructType,
      ordinals: Seq[Int],
      path: String
  ): ProtobufWriter.Message = {
    val fields = descriptor.getFields.asScala.toSeq.sortBy(_.getNumber)
    columns.find(c => descriptor.findFieldByName(c.name) == null).foreach { c =>
      throw new ColumnMismatch(child(path, c.name),
        s"the schema has no such field; it has ${fields.map(_.getName).mkString(", ")}")
    }
    val placed = fields.flatMap { f =>
      val i = columns.fieldNames.indexOf(f.getName)
      if (i < 0 && f.isRequired)
        throw new ColumnMismatch(child(path, f.getName), "there is no such column, and the field is required")
      val isNull = i >= 0 && columns(i).dataType == NullType
      if (isNull && !mayBeAbsent(f)) throw plan.refusedNull(child(path, f.getName))
      Option.when(i >= 0 && !isNull)((f, columns(i).dataType, ordinals(i)))
    }
    val places = placed.map { case (f, _, ordinal) => f -> ordinal }.toMap
    val oneofs =
      descriptor.getRealOneofs.asScala.map(_.getFields.asScala.flatMap(places.get).toArray).filter(_.length > 1)
    new ProtobufWriter.Message(
      placed.map { case (f, dataType, ordinal) => field(f, dataType, ordinal, child(path, f.getName)) }.toArray,
      oneofs.toArray,
      count => notAllowed(path, s"$count members of a oneof", "at most one of them can be there")
    )
  }

  private def field(f: FieldDescriptor, dataType: DataType, ordinal: Int, path: String): ProtobufWriter.Field = {
    def refused(): Throwable = plan.refusedNull(path)
    dataType match {
      case MapType(key, value, _) if f.isMapField =>
        val entry                                 = f.getMessageType
        def part(number: Int, dataType: DataType) = tagged(entry.findFieldByNumber(number), dataType, s"$path{}")
        new ProtobufWriter.Mapping(f, part(1, key), part(2, value), ordinal, () => refused())
      case ArrayType(item, _) if f.isRepeated && !f.isMapField =>
        new ProtobufWriter.Repeated(f, single(f, item, s"$path[]"), ordinal, () => refused())
      case one if !f.isRepeated =>
        new ProtobufWriter.Single(tagged(f, one, path), ordinal,
          Option.unless(mayBeAbsent(f))(() => refused()))
      case other => throw misfit(f, other, path)
    }
  }

  /** True if a field without a value is not the same as one with a default. */
  private def mayBeAbsent(f: FieldDescriptor) = f.hasPresence && !f.isRequired

  private def tagged(f: FieldDescriptor, dataType: DataType, path: String) =
    new ProtobufWriter.Tagged(f, single(f, dataType, path))

  private def single(f: FieldDescriptor, dataType: DataType, path: String): ProtobufWriter =
    if (f.getJavaType == JavaType.MESSAGE) embedded(f, dataType, path)
    else
      ProtobufScalarWriter(f, dataType, plan.numbers(path, ProtobufWidening.text(f)), notAllowed(path, _, _))
        .getOrElse(throw misfit(f, dataType, path))

  private def embedded(f: FieldDescriptor, dataType: DataType, path: String): ProtobufWriter =
    (ProtobufSchemas.wellKnown(f.getMessageType), dataType) match {
      case (None, struct: StructType) =>
        val inner = message(f.getMessageType, struct, struct.indices, path)
        (from, i, out) => out.writeByteArrayNoTag(ProtobufWriter.bytes(inner.write(from.getStruct(i, struct.size), _)))
      case (Some(TimestampType), TimestampType) =>
        (from, i, out) => out.writeMessageNoTag(timestamp(from.getLong(i), path))
      case (Some(_: DayTimeIntervalType), _: DayTimeIntervalType) =>
        (from, i, out) => out.writeMessageNoTag(duration(from.getLong(i), path))
      case (Some(TimestampType | _: DayTimeIntervalType) | None, _) => throw misfit(f, dataType, path)
      case (Some(_), _)                                             =>
        val wrapped = tagged(f.getMessageType.findFieldByNumber(1), dataType, path)
        (from, i, out) => out.writeByteArrayNoTag(ProtobufWriter.bytes(wrapped.put(from, i, _)))
    }

  private def timestamp(micros: Long, path: String): Timestamp = {
    val seconds = SparkTime.secondsOf(micros)
    if (seconds < ProtobufEncoder.FirstSecond || seconds > ProtobufEncoder.LastSecond)
      throw notAllowed(path, s"$micros µs since 1970", "google.protobuf.Timestamp is within the years 1 to 9999")
    Timestamp.newBuilder.setSeconds(seconds).setNanos(SparkTime.nanosOf(micros)).build
  }

  private def duration(micros: Long, path: String): Duration = {
    val seconds = micros / 1000000
    if (seconds.abs > ProtobufEncoder.MaxSeconds)
      throw notAllowed(path, s"$micros µs", "google.protobuf.Duration is at most 10000 years")
    Duration.newBuilder.setSeconds(seconds).setNanos((micros % 1000000).toInt * 1000).build
  }

  private def misfit(f: FieldDescriptor, dataType: DataType, path: String) =
    new ColumnMismatch(path, s"the field is ${ProtobufWidening.text(f)}, the column is ${dataType.sql}")

  private def notAllowed(path: String, value: String, reason: String): Throwable =
    plan.refused(path, value, reason)

  private def child(path: String, name: String) = if (path.isEmpty) name else s"$path.$name"
}

private[schema] object ProtobufEncoder {
  private val FirstSecond = -62135596800L
  private val LastSecond  = 253402300799L
  private val MaxSeconds  = 315576000000L

  /** Fails with [[ColumnMismatch]] when a column does not fit. */
  def apply(plan: WritePlan, descriptor: Descriptor): ValueEncoder = {
    val message = new ProtobufEncoder(plan).message(descriptor, plan.valueColumns, plan.values, "")
    new ValueEncoder {
      override def encode(row: InternalRow): Array[Byte] = ProtobufWriter.bytes(message.write(row, _))
    }
  }
}
