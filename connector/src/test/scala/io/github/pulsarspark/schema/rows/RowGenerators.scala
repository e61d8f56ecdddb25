package io.github.pulsarspark.schema.rows

import java.math.BigInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Arbitrary, Gen}

/** Random Spark columns and rows. */
object RowGenerators {
  private val leaf: Gen[DataType] = Gen.oneOf(
    Gen.oneOf(
      BooleanType,
      ByteType,
      ShortType,
      IntegerType,
      LongType,
      FloatType,
      DoubleType,
      StringType,
      BinaryType,
      DateType,
      TimestampType,
      TimestampNTZType
    ),
    for (p <- Gen.choose(1, 38); s <- Gen.choose(0, p)) yield DecimalType(p, s)
  )

  private def dataType(depth: Int): Gen[DataType] =
    if (depth == 0) leaf
    else
      Gen.frequency(
        8 -> leaf,
        1 -> Gen.zip(dataType(depth - 1), Gen.oneOf(true, false)).map { case (t, n) => ArrayType(t, n) },
        1 -> Gen.zip(dataType(depth - 1), Gen.oneOf(true, false)).map { case (t, n) => MapType(StringType, t, n) },
        2 -> struct(depth - 1)
      )

  def struct(depth: Int): Gen[StructType] = Gen.choose(1, 6).flatMap { n =>
    Gen.listOfN(n, Gen.zip(dataType(depth), Gen.oneOf(true, false))).map { fields =>
      StructType(fields.zipWithIndex.map { case ((t, nullable), i) => StructField(s"c$i", t, nullable) })
    }
  }

  private def value(dataType: DataType, nullable: Boolean): Gen[Any] =
    if (nullable) Gen.frequency(4 -> value(dataType), 1 -> Gen.const(null)) else value(dataType)

  private def value(dataType: DataType): Gen[Any] = dataType match {
    case BooleanType            => Gen.oneOf(true, false)
    case ByteType               => Arbitrary.arbByte.arbitrary
    case ShortType              => Arbitrary.arbShort.arbitrary
    case IntegerType | DateType => Gen.oneOf(Arbitrary.arbInt.arbitrary, Gen.oneOf(Int.MinValue, 0, Int.MaxValue))
    case LongType | TimestampType | TimestampNTZType =>
      Gen.oneOf(Arbitrary.arbLong.arbitrary, Gen.oneOf(Long.MinValue, 0L, Long.MaxValue, 253402300799999999L))
    case FloatType  => Gen.oneOf(Arbitrary.arbFloat.arbitrary, Gen.oneOf(Float.NaN, Float.PositiveInfinity, -0.0f))
    case DoubleType => Gen.oneOf(Arbitrary.arbDouble.arbitrary, Gen.oneOf(Double.NaN, Double.NegativeInfinity, -0.0))
    case StringType => Gen.alphaNumStr.map(s => UTF8String.fromString(s + "é漢😀\u0000".take(s.length % 6)))
    case BinaryType => Gen.listOf(Arbitrary.arbByte.arbitrary).map(_.toArray)
    case d: DecimalType =>
      val most = BigInt(BigInteger.TEN.pow(d.precision)) - 1
      Gen.oneOf(Gen.const(most), Gen.const(-most), Gen.choose(-most, most)).map(n =>
        Decimal(new java.math.BigDecimal(n.bigInteger, d.scale), d.precision, d.scale)
      )
    case ArrayType(t, n) =>
      Gen.choose(0, 4).flatMap(Gen.listOfN(_, value(t, n))).map(v => new GenericArrayData(v.toArray[Any]))
    case MapType(_, t, n) =>
      Gen.choose(0, 4).flatMap(Gen.listOfN(_, value(t, n))).map { v =>
        new ArrayBasedMapData(
          new GenericArrayData(v.indices.map(i => UTF8String.fromString(s"k$i")).toArray[Any]),
          new GenericArrayData(v.toArray[Any])
        )
      }
    case s: StructType => row(s)
    case other         => sys.error(s"no values of ${other.sql} are made here")
  }

  def row(struct: StructType): Gen[InternalRow] =
    Gen.sequence[Seq[Any], Any](struct.fields.toSeq.map(f => value(f.dataType, f.nullable))).map(v =>
      new GenericInternalRow(v.toArray[Any])
    )

  val rows: Gen[(StructType, Seq[InternalRow])] = struct(2).flatMap(s => Gen.listOfN(3, row(s)).map(s -> _))
}
