package io.github.pulsarspark.schema.rows

import java.io.ByteArrayOutputStream
import java.math.BigInteger
import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter}
import org.apache.avro.io.{DecoderFactory, EncoderFactory}
import org.apache.avro.util.Utf8
import org.scalacheck.{Arbitrary, Gen}

import io.github.pulsarspark.schema.avro.ExactGenericData

/** Random Avro schemas and values, with the edges of every type. */
object AvroGenerators {

  private val year9999 = 253402300799999L

  private val text: Gen[String] =
    Gen.listOf(Gen.oneOf(Gen.alphaNumChar.map(_.toString), Gen.oneOf("ä", "漢", "\u0000", "😀", "\n", "\"", "\\"))).map(
      _.take(12).mkString
    )

  private def logical(name: String, t: Type): Schema = {
    val schema = Schema.create(t)
    (name match {
      case "date"                   => LogicalTypes.date
      case "timestamp-millis"       => LogicalTypes.timestampMillis
      case "timestamp-micros"       => LogicalTypes.timestampMicros
      case "local-timestamp-millis" => LogicalTypes.localTimestampMillis
      case "local-timestamp-micros" => LogicalTypes.localTimestampMicros
      case "time-millis"            => LogicalTypes.timeMillis
      case "time-micros"            => LogicalTypes.timeMicros
      case "uuid"                   => LogicalTypes.uuid
    }).addToSchema(schema)
  }

  private def decimal(name: String): Gen[Schema] = for {
    precision <- Gen.choose(1, 38)
    scale     <- Gen.choose(0, precision)
    fixed     <- Arbitrary.arbBool.arbitrary
    spare     <- Gen.choose(0, 2)
  } yield {
    val size = BigInteger.TEN.pow(precision).bitLength / 8 + 1 + spare
    LogicalTypes.decimal(precision, scale).addToSchema(if (fixed) Schema.createFixed(s"${name}_d", null, null, size)
    else Schema.create(Type.BYTES))
  }

  private def leaf(name: String): Gen[Schema] = Gen.frequency(
    10 ->
      Gen.oneOf(Type.BOOLEAN, Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE, Type.STRING, Type.BYTES).map(Schema.create),
    4 -> Gen.oneOf(
      "timestamp-millis",
      "timestamp-micros",
      "local-timestamp-millis",
      "local-timestamp-micros",
      "time-micros"
    ).map(logical(_, Type.LONG)),
    2 -> Gen.oneOf("date", "time-millis").map(logical(_, Type.INT)),
    1 -> Gen.const(logical("uuid", Type.STRING)),
    2 -> decimal(name),
    1 -> Gen.choose(0, 17).map(Schema.createFixed(s"${name}_f", null, null, _)),
    2 -> Gen.choose(1, 5).map(n => Schema.createEnum(s"${name}_e", null, null, (0 until n).map(i => s"S$i").asJava))
  )

  private def nullableOf(schema: Schema): Gen[Schema] =
    Gen.oneOf(Seq(Schema.create(Type.NULL), schema), Seq(schema, Schema.create(Type.NULL))).map(s =>
      Schema.createUnion(s.asJava)
    )

  /** Unions of several types. In JSON most of them are ambiguous. */
  private def wideUnion(name: String, depth: Int): Gen[Schema] = {
    val base = Seq(Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE, Type.STRING, Type.BOOLEAN).map(Schema.create)
    for {
      simple <- Gen.someOf(base)
      named  <- Gen.option(record(s"${name}_u", depth - 1, unions = true))
      isNull <- Gen.oneOf(true, false)
      types = simple.toSeq ++ named ++ Option.when(isNull)(Schema.create(Type.NULL))
    } yield Schema.createUnion((if (types.isEmpty) Seq(base.head) else types).asJava)
  }

  private def any(name: String, depth: Int, unions: Boolean): Gen[Schema] = {
    val flat = Gen.frequency(3 -> leaf(name), 3 -> leaf(name).flatMap(nullableOf))
    if (depth <= 0) flat
    else
      Gen.frequency(
        10                     -> flat,
        2                      -> any(name, depth - 1, unions).map(Schema.createArray),
        2                      -> any(name, depth - 1, unions).map(Schema.createMap),
        2                      -> record(name, depth - 1, unions),
        2                      -> record(name, depth - 1, unions).flatMap(nullableOf),
        (if (unions) 2 else 0) -> wideUnion(name, depth)
      )
  }

  def record(name: String, depth: Int, unions: Boolean): Gen[Schema] = for {
    n      <- Gen.choose(1, 6)
    fields <- Gen.sequence[Seq[Schema], Schema]((0 until n).map(i => any(s"${name}_$i", depth, unions)))
  } yield Schema.createRecord(name, null, null, false,
    fields.zipWithIndex.map { case (s, i) => new Schema.Field(s"f$i", s) }.asJava)

  /** Records without unions other than with null, which JSON can tell apart. */
  val plainRecord: Gen[Schema] = record("R", 3, unions = false)
  val anyRecord: Gen[Schema]   = record("R", 3, unions = true)

  def value(schema: Schema): Gen[Any] = schema.getType match {
    case Type.NULL    => Gen.const(null)
    case Type.BOOLEAN => Gen.oneOf(true, false)
    case Type.INT     => Gen.oneOf(Arbitrary.arbInt.arbitrary, Gen.oneOf(Int.MinValue, -1, 0, 1, 2932896, Int.MaxValue))
    case Type.LONG    =>
      val limit = if (schema.getLogicalType == null) Long.MaxValue else Long.MaxValue / 1000
      Gen.oneOf(Gen.choose(-limit, limit), Gen.oneOf(-limit, -1L, 0L, 1L, year9999, limit))
    case Type.FLOAT =>
      Gen.oneOf(Arbitrary.arbFloat.arbitrary,
        Gen.oneOf(Float.NaN, -0.0f, Float.MinPositiveValue, Float.MaxValue, Float.NegativeInfinity))
    case Type.DOUBLE => Gen.oneOf(
        Arbitrary.arbDouble.arbitrary,
        Gen.oneOf(Double.NaN, -0.0, Double.MinPositiveValue, Double.MaxValue, Double.PositiveInfinity)
      )
    case Type.STRING => text.map(new Utf8(_))
    case Type.ENUM   => Gen.oneOf(schema.getEnumSymbols.asScala.toSeq).map(new GenericData.EnumSymbol(schema, _))
    case Type.BYTES  => bytes(schema, -1).map(ByteBuffer.wrap)
    case Type.FIXED  => bytes(schema, schema.getFixedSize).map(new GenericData.Fixed(schema, _))
    case Type.ARRAY  =>
      Gen.choose(0, 4).flatMap(Gen.listOfN(_, value(schema.getElementType))).map(v =>
        new GenericData.Array[Any](schema, v.asJava)
      )
    case Type.MAP =>
      Gen.choose(0, 20).flatMap(n =>
        Gen.listOfN(if (n > 17) n else n % 4, Gen.zip(text, value(schema.getValueType)))
      ).map { entries =>
        entries.map { case (k, v) => (new Utf8(k): Any) -> v }.toMap.asJava
      }
    case Type.UNION  => Gen.oneOf(schema.getTypes.asScala.toSeq).flatMap(value)
    case Type.RECORD =>
      Gen.sequence[Seq[Any], Any](schema.getFields.asScala.map(f => value(f.schema))).map { fields =>
        val record = new GenericData.Record(schema)
        fields.zipWithIndex.foreach { case (v, i) => record.put(i, v) }
        record
      }
  }

  private def bytes(schema: Schema, size: Int): Gen[Array[Byte]] = schema.getLogicalType match {
    case d: LogicalTypes.Decimal =>
      val most = BigInteger.TEN.pow(d.getPrecision).subtract(BigInteger.ONE)
      Gen.oneOf(
        Gen.oneOf(most, most.negate, BigInteger.ZERO, BigInteger.ONE.negate),
        Gen.choose(BigInt(most.negate), BigInt(most)).map(_.bigInteger)
      ).map { n =>
        val short = n.toByteArray
        if (size < 0) short else Array.fill(size - short.length)(if (n.signum < 0) -1.toByte else 0.toByte) ++ short
      }
    case _ => (if (size < 0) Gen.choose(0, 20) else Gen.const(size)).flatMap(
        Gen.listOfN(_, Arbitrary.arbByte.arbitrary)
      ).map(_.toArray)
  }

  def encoded(schema: Schema, datum: Any): Array[Byte] = {
    val out     = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    new GenericDatumWriter[Any](schema).write(datum, encoder)
    encoder.flush()
    out.toByteArray
  }

  def decoded(writer: Schema, reader: Schema, bytes: Array[Byte]): Any =
    new GenericDatumReader[Any](writer, reader, ExactGenericData).read(null,
      DecoderFactory.get.binaryDecoder(bytes, null))

  /** A schema and some of its values. */
  def dataOf(schemas: Gen[Schema]): Gen[(Schema, Seq[Any])] =
    schemas.flatMap(schema => Gen.choose(1, 4).flatMap(Gen.listOfN(_, value(schema))).map(schema -> _))
}
